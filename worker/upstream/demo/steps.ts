/** The steps of a request. Each step takes one turn. */
import { EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import { type Call, cut, doing, fence, joined, newCall, type Result } from './tools.ts';

/** One turn's work. Paths are relative to the workspace. */
export interface Step {
  /** The work in words that fit after "I'll" and "I could not". */
  readonly title: string;
  /** Made together in one answer. Empty if only a language model could do the step. */
  readonly calls: readonly Call[];
  /** Makes further steps from the results. They come before the remaining steps. */
  readonly follow?: (results: readonly Result[]) => readonly Step[];
  /** Tools that the step needs beside those of its calls. */
  readonly needs?: readonly string[];
  /** A plan's text for this step. Set for changes: in plan mode a change is planned, not made. */
  readonly detail?: string;
  /** Makes the step for the file that the user names in the answer to `ask_question`. */
  readonly named?: (path: string) => Step;
}

export function single(name: string, about: string, more: Call['arguments'] = {}): Step {
  const call = newCall(name, about, more);
  return { title: doing(call), calls: [call] };
}

/** A request that no intent matches. */
export function unknown(text: string): Step {
  return { title: text, calls: [], ...(CHANGE.test(text) && { detail: BEYOND_RULES }) };
}

const BEYOND_RULES = 'This takes a language model, so it stands here in your words.';
const CHANGE =
  /^(?:add|build|change|create|delete|fix|make|move|refactor|remove|rename|replace|rewrite|split|update|write)\s/i;

const README = /^readme(?:\.(?:md|txt|rst))?$/i;
const MANIFEST = /^(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|pom\.xml|composer\.json)$/;

/** Lists the top folder, then reads its README and its manifest. */
export const SUMMARY: Step = {
  ...single('list_dir', '.'),
  follow: ([listing]) => {
    const names = listing?.failed ? [] : (listing?.text.match(/[\w.-]+/g) ?? []);
    const telling = [README, MANIFEST].flatMap(
      (form) => names.find((name) => form.test(name)) ?? [],
    );
    const calls = telling.map((name) => newCall('read_file', name));
    return calls.length > 0 ? [{ title: 'read what tells most about it', calls }] : [];
  },
};

/** Replaces an existing file only with content that the user gave, and reads the file first. */
export function write(path: string, content: string): Step {
  const contents = content === '' || content.endsWith('\n') ? content : `${content}\n`;
  const step = single('write', path, { contents });
  const detail = content === '' ? 'An empty file.' : fence('text', contents.trimEnd());
  const follow: Step['follow'] = ([written]) => {
    const isUnread = /^(?:READ_FIRST|STALE)$/.test(written?.error?.code ?? '');
    return isUnread && content !== '' ? [single('read_file', path), step] : [];
  };
  return { ...step, detail, follow };
}

/** Reads the file first, so that the user's own changes stay. */
export function replace(path: string, from: string, to: string): Step[] {
  const strings = { old_string: from, new_string: to, replace_all: true };
  const diff = `-${from.replaceAll('\n', '\n-')}\n+${to.replaceAll('\n', '\n+')}`;
  const change = single('str_replace', path, strings);
  return [single('read_file', path), { ...change, detail: fence('diff', diff) }];
}

export function createUnnamed(content: string): Step {
  const options = ['notes.md', 'hello.txt'].map((label) => ({ id: label, label }));
  const prompt = 'Which file is to be created? Choose one, or write another path.';
  const asked = {
    title: 'One thing only you can say:',
    questions: [{ id: 'path', prompt, options }],
  };
  return {
    title: 'ask for its name',
    calls: [{ name: 'ask_question', arguments: asked }],
    needs: ['write'],
    follow: (results) => answered(results, (path) => [write(path, content)]),
    detail: '',
    named: (path) => write(path, content),
  };
}

/** The last path in the answer wins, so own words win over a chosen option. Without a path, takes the first option. */
function answered([result]: readonly Result[], then: (path: string) => Step[]): Step[] {
  const said = /\n-> ([\s\S]*)$/.exec(result?.text ?? '')?.[1];
  if (said === undefined) return [];
  const words = said.split(/[\s;]+/).map((word) => word.replaceAll(/^["'`@(]+|["'`.,!?)]+$/g, ''));
  return then(words.findLast((word) => /[./]|^(?:makefile|dockerfile)$/i.test(word)) ?? 'notes.md');
}

/** Asks for the names that are missing, looks at the workspace, then lays the steps out. */
export function plan(steps: readonly Step[]): Step[] {
  const begin = { title: 'lay out a plan', needs: ['create_plan', 'list_dir'] };
  const index = steps.findIndex(({ named }) => named);
  const asking = steps[index];
  if (!asking) return [{ ...single('list_dir', '.'), ...begin }, planStep(steps)];
  const named = (path: string) => plan(steps.with(index, asking.named?.(path) ?? asking));
  return [{ ...begin, calls: asking.calls, follow: (results) => answered(results, named) }];
}

function planStep(steps: readonly Step[]): Step {
  const { maxIdChars, maxTodoChars, maxTodos, maxPlanChars } = EDGE_TOOL_LIMITS;
  const todos = steps.slice(0, maxTodos).map((step, index) => ({
    ...todoOf(step, index),
    dependencies: index === 0 ? [] : [`step-${index}`],
  }));
  const sections = steps.map((step, index) => {
    const detail = step.detail ?? (step.calls.length > 0 ? 'This only looks.' : BEYOND_RULES);
    return `### ${index + 1}. ${todoOf(step, index).content}\n\n${detail}`;
  });
  const more = steps.length > 1 ? ` +${steps.length - 1}` : '';
  const name = `${todos[0]?.content}${more}`.replaceAll('`', '');
  const titles = joined(steps.map(({ title }) => title));
  return single('create_plan', cut(name, maxIdChars), {
    overview: cut(`To ${titles}. Nothing is changed yet.`, maxTodoChars),
    plan: cut(sections.join('\n\n'), maxPlanChars),
    todos,
  });
}

/** A step as a todo and as a heading. */
export function todoOf({ title }: Step, index: number): { id: string; content: string } {
  const text = title.charAt(0).toUpperCase() + title.slice(1).replaceAll('\n', ' ');
  return { id: `step-${index + 1}`, content: cut(text, EDGE_TOOL_LIMITS.maxTodoChars) };
}
