/** What helps a family of models more than others. A row needs a public source that has measured it. */
import type { PromptChange } from '../../shared/settings/prompt-blocks.ts';
import { findTool } from '../../shared/tools/catalogue.ts';
import type { FunctionDefinition } from '../../shared/tools/definition.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import { write } from '../../shared/tools/write.ts';
import { matchesGlobs } from './globs.ts';

export interface ModelFamily {
  readonly name: string;
  /** Globs of the models' names, in small letters. A name may have its vendor in front: `anthropic/claude-…`. */
  readonly models: readonly string[];
  readonly changes: readonly PromptChange[];
  /** The tools that are offered before all others that change content. */
  readonly edits?: readonly string[];
  /** Sentences added to the descriptions of tools, by their names. */
  readonly toolNotes?: Readonly<Record<string, string>>;
}

/** The first row that matches counts. */
export const FAMILIES: readonly ModelFamily[] = [
  {
    // Anthropic's page on parallel tool use: models that call one tool at a time call several once a prompt demands it
    // plainly. Its best practices: newer models add files and abstractions that no one asked for, unless asked not to.
    // Its own editing tool replaces one exact piece, or writes a whole file.
    // https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use
    // https://platform.claude.com/docs/en/build-with-claude/prompt-engineering/claude-prompting-best-practices
    name: 'claude',
    models: ['*claude*'],
    changes: [
      append(
        'parallel_calls',
        'To read three files, send three calls in one reply, not one call in each of three replies.',
      ),
      append(
        'code_changes',
        'Add no abstraction, option or fallback for needs that do not exist yet.',
      ),
    ],
    edits: [strReplace.name, write.name],
  },
  {
    // OpenAI's guide to GPT-5-Codex: a demand for plans or announcements can end the answer before the work is done.
    // https://cookbook.openai.com/examples/gpt-5-codex_prompting_guide
    name: 'gpt-codex',
    models: ['*gpt-*codex*'],
    changes: [
      append('communication', 'Start with the work. Announce neither a plan nor a call first.'),
    ],
  },
  {
    // OpenAI's guide to GPT-5, with what Cursor found: words that demand thorough search made it search on and on where
    // it knew enough. Softer words that name the end of the search cured that.
    // https://cookbook.openai.com/examples/gpt-5/gpt-5_prompting_guide
    name: 'gpt-5',
    models: ['*gpt-5*'],
    changes: [
      {
        change: 'replace',
        block: 'context_strategy',
        text: `Read what the request touches, and stop as soon as you can act: when you can name what has to change. Search by meaning if you
do not know the words, and by text if you do. Do not repeat a search that has answered its question.`,
      },
    ],
  },
  {
    // OpenAI's guide to GPT-4.1: three reminders (go on to the end, look instead of guessing, plan and reflect around
    // calls) raised its score in SWE-bench Verified by close to 20 %.
    // https://cookbook.openai.com/examples/gpt4-1_prompting_guide
    name: 'gpt-4.1',
    models: ['*gpt-4.1*'],
    changes: [
      append(
        'tool_calling',
        `Keep going until the request is completely done, and only then end your turn.
If you are not sure about a file or the structure of the code, read it with the tools.
Think before each call about what it has to show you, and after it about what it has shown.`,
      ),
    ],
  },
  {
    // Aider's benchmarks: whole files are the format that weak models get right most often, so it is Aider's default for
    // models that it does not know. A search and replace needs the old text letter by letter.
    // https://aider.chat/docs/more/edit-formats.html
    name: 'small',
    models: ['*{:,-}{1,1.5,2,3,4,7,8,9}b{,[-_.:]*}'],
    changes: [
      append(
        'code_changes',
        'Rewrite short files as a whole with write. Use str_replace only in files of more than 200 lines.',
      ),
    ],
    edits: [write.name],
    toolNotes: {
      [strReplace.name]: 'Copy old_string from the file character by character, with its spaces.',
    },
  },
];

function append(block: string, text: string): PromptChange {
  return { change: 'append', block, text };
}

/** `names` are a model's names in a request and at its server. Null for a family without a row. */
export function familyOf(names: readonly string[]): ModelFamily | null {
  return FAMILIES.find(({ models }) => isModelIn(models, names)) ?? null;
}

/** Whether a glob matches one of the model's names. A glob without a slash matches the name behind the last slash. */
export function isModelIn(globs: readonly string[], names: readonly string[]): boolean {
  const lower = globs.map((glob) => glob.toLowerCase());
  return names.some((name) => matchesGlobs(lower, name.toLowerCase()));
}

/** The functions in the family's order and words. Those that change content keep their places among the others. */
export function offeredTo(
  family: ModelFamily | null,
  functions: readonly FunctionDefinition[],
): FunctionDefinition[] {
  const { edits = [], toolNotes = {} } = family ?? {};
  const rank = ({ function: { name } }: FunctionDefinition) =>
    edits.includes(name) ? edits.indexOf(name) : edits.length;
  const places = functions
    .filter(changesContent)
    .sort((a, b) => rank(a) - rank(b))
    .values();
  return functions
    .map((one) => (changesContent(one) ? (places.next().value ?? one) : one))
    .map((one) => noted(one, toolNotes[one.function.name]));
}

function changesContent({ function: { name } }: FunctionDefinition): boolean {
  return findTool(name)?.changesContent === true;
}

function noted(definition: FunctionDefinition, note: string | undefined): FunctionDefinition {
  if (note === undefined) return definition;
  const { type, function: sent } = definition;
  return { type, function: { ...sent, description: `${sent.description} ${note}` } };
}
