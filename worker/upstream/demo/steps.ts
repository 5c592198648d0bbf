/** The steps of a request. Each step takes one turn. */
import { EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import { cut, type DemoCall, doing, joined, newCall, type Result } from './calls.ts';

/** One turn's work. Paths are relative to the workspace. */
export interface DemoStep {
  /** The work in words that fit after "I'll" and "I could not". */
  readonly title: string;
  /** Made together in one answer. Empty if only a language model could do the step. */
  readonly calls: readonly DemoCall[];
  /** Makes further steps from the results. They come before the remaining steps. */
  readonly follow?: (results: readonly Result[]) => readonly DemoStep[];
}

/** The steps after this one are planned, not made. */
export const PLAN_BEGINS: DemoStep = { title: 'lay out a plan', calls: [] };

export function single(name: string, about: string, more: DemoCall['arguments'] = {}): DemoStep {
  const call = newCall(name, about, more);
  return { title: doing(call), calls: [call] };
}

const README = /^readme(?:\.(?:md|txt|rst))?$/i;
const MANIFEST = /^(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|pom\.xml|composer\.json)$/;

/** Lists the top folder, then reads its README and its manifest. */
export const SUMMARY: DemoStep = {
  ...single('list_dir', '.'),
  follow: ([listing]) => {
    const names = listing?.failed ? [] : (listing?.text.match(/[\w.-]+/g) ?? []);
    const found = [README, MANIFEST].flatMap((form) => names.find((name) => form.test(name)) ?? []);
    const calls = found.map((name) => newCall('read_file', name));
    return calls.length > 0 ? [{ title: `read ${joined(found)}`, calls }] : [];
  },
};

/** Replaces an existing file only with content that the user gave, and reads the file first. */
export function write(path: string, content: string): DemoStep {
  const contents = content === '' || content.endsWith('\n') ? content : `${content}\n`;
  const step = single('write', path, { contents });
  const follow: DemoStep['follow'] = ([written]) => {
    const isUnread = /^(?:READ_FIRST|STALE)$/.test(written?.error?.code ?? '');
    return isUnread && content !== '' ? [single('read_file', path), step] : [];
  };
  return { ...step, follow };
}

/** Reads the file first, so that the user's own changes stay. */
export function replace(path: string, from: string, to: string): DemoStep[] {
  const strings = { old_string: from, new_string: to, replace_all: true };
  return [single('read_file', path), single('str_replace', path, strings)];
}

/** Asks for the path. The last one in the answer wins, so own words win over a chosen option. */
export function createUnnamed(content: string): DemoStep {
  const options = ['notes.md', 'hello.txt'].map((label) => ({ id: label, label }));
  const prompt = 'Which file is to be created? Choose one, or write another path.';
  const questions = [{ id: 'path', prompt, options }];
  return {
    title: 'create a file whose name you choose',
    calls: [{ name: 'ask_question', arguments: { title: 'A question first:', questions } }],
    follow: ([result]) => {
      if (result?.failed !== false) return [];
      const said = result.text.slice(result.text.indexOf('\n-> '));
      const words = said.split(/[\s;]+/);
      const names = words.map((word) => word.replaceAll(/^["'`@(]+|["'`.,!?)]+$/g, ''));
      const path = names.findLast((name) => /[./]|^(?:makefile|dockerfile)$/i.test(name));
      return [write(path ?? 'notes.md', content)];
    },
  };
}

/** Lays the steps out without carrying them out. */
export function plan(steps: readonly DemoStep[]): DemoStep {
  const { maxIdChars, maxTodoChars, maxTodos, maxPlanChars } = EDGE_TOOL_LIMITS;
  const titles = steps.map(({ title }) => title.replaceAll('\n', ' '));
  const lines = steps.map(({ calls }, index) => {
    const note = calls.length > 0 ? '' : ' (this takes a language model)';
    return `${index + 1}. ${titles[index]}${note}`;
  });
  const todos = titles.slice(0, maxTodos).map((title, index) => ({
    id: `step-${index + 1}`,
    content: cut(title, maxTodoChars),
    dependencies: index === 0 ? [] : [`step-${index}`],
  }));
  const more = titles.length > 1 ? ` +${titles.length - 1}` : '';
  return single('create_plan', cut(`${titles[0]}${more}`.replaceAll('`', ''), maxIdChars), {
    overview: cut(`To ${joined(titles)}. Nothing is changed yet.`, maxTodoChars),
    plan: cut(lines.join('\n'), maxPlanChars),
    todos,
  });
}
