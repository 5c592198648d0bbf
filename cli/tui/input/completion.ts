/** What the word at the cursor can become: a file of the workspace behind `@`, a command or its argument behind `/`. */
import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from '@earendil-works/pi-tui';
import type { FoundFile } from '../../../client/index.ts';
import { type ChosenPaths, mentionOf, openMention } from '../../../shared/text/mention-text.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';

export interface CompletionSources {
  /** What of the workspace fits the text. Rejects only once the signal has aborted. */
  findFiles(query: string, signal: AbortSignal): Promise<readonly FoundFile[]>;
  readonly commands: readonly CompletedCommand[];
  /** What is known of the skills and commands that the machine has for people. */
  skills(): readonly CompletedCommand[];
}

export interface CompletedCommand {
  readonly name: string;
  readonly help: string;
  readonly takes?: string;
  /** What can follow the name. */
  complete?(prefix: string): Promise<readonly AutocompleteItem[]>;
}

export interface InputCompletion extends AutocompleteProvider {
  /** Whether the text ends with the whole mention of a file: Enter and Tab then mean the message. */
  isComplete(before: string): boolean;
  /** The paths that the person has taken from the lists. */
  readonly chosen: ChosenPaths;
}

export function newCompletion({ findFiles, commands, skills }: CompletionSources): InputCompletion {
  /** The mentions of the files that were found last. */
  let found: ReadonlySet<string> = new Set();
  const chosen = new Map<string, string>();
  const paths = new Map<string, string>();
  const isComplete = (before: string) => {
    const mention = openMention(before);
    return mention !== undefined && found.has(before.slice(mention.at));
  };
  const suggest = async (before: string, isFirst: boolean, signal: AbortSignal) => {
    if (isFirst && before.startsWith('/')) {
      return await commandsFor([...commands, ...skills()], before);
    }
    const mention = openMention(before);
    if (!mention) return null;
    const files = await findFiles(mention.query, signal);
    found = new Set(files.filter(({ type }) => type === 'file').map(({ path }) => mentionOf(path)));
    for (const { path } of files) paths.set(mentionOf(path), path);
    if (isComplete(before)) return null;
    return { items: files.flatMap(fileItem), prefix: before.slice(mention.at) };
  };
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, line, column, { signal }) {
      const before = (lines[line] ?? '').slice(0, column);
      try {
        return await suggest(before, line === 0, signal);
      } catch (error) {
        if (signal.aborted) return null;
        throw error;
      }
    },
    applyCompletion(lines, cursorLine, column, { value }, prefix) {
      const text = lines[cursorLine] ?? '';
      const path = paths.get(value);
      if (path !== undefined) chosen.set(value, path);
      const start = text.slice(0, column - prefix.length);
      const end = text.slice(column).replace(/^ /, '');
      const written = `${start}${value} `;
      const changed = lines.with(cursorLine, `${written}${end}`);
      return { lines: changed, cursorLine, cursorCol: written.length };
    },
    shouldTriggerFileCompletion: (lines, line, column) => {
      const before = (lines[line] ?? '').slice(0, column);
      if (line === 0 && before.startsWith('/')) return true;
      return openMention(before) !== undefined && !isComplete(before);
    },
    isComplete,
    chosen,
  };
}

/** The names that fit, or what can follow the name that is written. */
async function commandsFor(
  commands: readonly CompletedCommand[],
  before: string,
): Promise<AutocompleteSuggestions | null> {
  const [, typed = '', argument] = /^\/(\S*)(?:\s+(.*))?$/.exec(before) ?? [];
  if (argument === undefined) {
    const items = commands.filter(({ name }) => name.startsWith(typed)).map(commandItem);
    return { items, prefix: before };
  }
  const command = commands.find(({ name }) => name === typed);
  const items = (await command?.complete?.(argument)) ?? [];
  // What is complete already needs no list, whose Enter would not send it.
  if (items.some(({ value }) => value === argument)) return null;
  return { items: [...items], prefix: argument };
}

function commandItem({ name, help, takes }: CompletedCommand): AutocompleteItem {
  const label = takes === undefined ? name : `${name} ${takes}`;
  return { value: `/${name}`, label, description: help };
}

/** The composer's line cannot hold a line end. */
function fileItem({ path, type }: FoundFile): AutocompleteItem[] {
  if (path.includes('\n')) return [];
  const kind = type === 'file' ? {} : { description: type };
  return [{ value: mentionOf(path), label: nameInLine(path), ...kind }];
}
