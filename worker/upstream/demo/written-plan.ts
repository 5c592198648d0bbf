/** The plan that is laid before the user: written from the files as they are, and as each step would leave them. */
import type * as z from 'zod';
import { DEMO_LIMITS, EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import type { createPlan } from '../../../shared/tools/create-plan.ts';
import type { Result } from './history.ts';
import { capitalise, count, cut, itemOf, joined, titleOf } from './naming.ts';
import { code, fence, quoteLines } from './quote.ts';
import { errorOf, numberedLines, readListing, readPassages } from './results.ts';
import { sampleContent } from './sample-content.ts';
import type { Step } from './steps.ts';
import { todoIdOf } from './todos.ts';

/** A step that only looks, and what it saw. */
export interface Sight {
  readonly look: Step;
  readonly result: Result;
}

/** What must be seen before the steps can be laid out: steps of one call each. */
export function looksFor(steps: readonly Step[], tools: ReadonlySet<string>): Step[] {
  const made = new Set<string>();
  const looks = new Map<string, Step>([['', { type: 'list', path: '.' }]]);
  for (const step of steps) {
    const look = lookFor(step, tools);
    const isMade = 'path' in step && step.path !== null && made.has(step.path);
    if (look && !isMade) looks.set(JSON.stringify(look), look);
    if (step.type === 'write') made.add(step.path);
  }
  return [...looks.values()];
}

function lookFor(step: Step, tools: ReadonlySet<string>): Step | null {
  switch (step.type) {
    case 'replace':
    case 'delete':
      return { type: 'read', path: step.path };
    case 'write':
      // Most of these files are not there yet, and reading one that is not is an error.
      return tools.has('glob_file_search') ? { type: 'find', pattern: step.path, path: '.' } : null;
    case 'unknown':
      return tools.has('codebase_search')
        ? { type: 'explore', question: step.text, pattern: '' }
        : null;
    default:
      return null;
  }
}

/** The arguments of `create_plan`. */
export function writePlan(
  steps: readonly Step[],
  sights: readonly Sight[],
): z.input<typeof createPlan.arguments> {
  const [first, ...others] = steps.map(titleOf);
  const name = [first?.replaceAll('`', ''), ...(others.length > 0 ? [`+${others.length}`] : [])];
  const overview = `${capitalise(joined(steps.map(itemOf)))}. Nothing is changed yet.`;
  return {
    name: cut(name.join(' '), EDGE_TOOL_LIMITS.maxIdChars),
    overview: cut(overview, EDGE_TOOL_LIMITS.maxTodoChars),
    plan: cut(describe(steps, sights), EDGE_TOOL_LIMITS.maxPlanChars),
    todos: steps.slice(0, EDGE_TOOL_LIMITS.maxTodos).map((step, index) => ({
      id: todoIdOf(index),
      content: titleOf(step),
      dependencies: index === 0 ? [] : [todoIdOf(index - 1)],
    })),
  };
}

function describe(steps: readonly Step[], sights: readonly Sight[]): string {
  const files = readFiles(sights);
  const sections = steps.map(
    (step, index) => `### ${index + 1}. ${titleOf(step)}\n\n${detail(step, files, sights)}`,
  );
  return [...describeTop(sights), ...sections].join('\n\n');
}

function describeTop([top]: readonly Sight[]): string[] {
  if (!top || top.result.failed) return [];
  const { lines, note } = readListing(top.result.text);
  if (lines.length === 0) return [note];
  return [`At the top of the workspace:\n\n${quoteLines(lines, DEMO_LIMITS.maxQuotedEntries)}`];
}

/** Texts by path: those that were seen, then changed by each step that is described. */
type Files = Map<string, string>;

function readFiles(sights: readonly Sight[]): Files {
  return new Map(
    sights.flatMap(({ look, result }) =>
      look.type === 'read' && !result.failed ? [[look.path, textOf(result)]] : [],
    ),
  );
}

function textOf({ text }: Result): string {
  return numberedLines(text)
    .map((line) => `${line.text}\n`)
    .join('');
}

function detail(step: Step, files: Files, sights: readonly Sight[]): string {
  switch (step.type) {
    case 'write':
      return detailWrite(step, files, sights);
    case 'replace':
      return detailReplace(step, files, sights);
    case 'delete':
      return detailDelete(step, files, sights);
    case 'run':
      return fence('sh', step.command.split('\n'));
    case 'unknown':
      return detailUnknown(step.text, sights);
    default:
      return 'This only looks.';
  }
}

type Typed<Type extends Step['type']> = Extract<Step, { type: Type }>;

function detailWrite({ path, content }: Typed<'write'>, files: Files, sights: readonly Sight[]) {
  const isThere = files.has(path) || isFound(path, sights);
  if (isThere && content === null) {
    return 'It is there already, and no content was given: it is not replaced, so this step needs one.';
  }
  const text = content ?? sampleContent(path);
  files.set(path, text);
  const lines = linesOf(text);
  const begins = lines.length > DEMO_LIMITS.maxQuotedLines ? ', which begins' : '';
  const language = /\.(\w+)$/.exec(path)?.[1] ?? 'text';
  const quoted = fence(language, lines.slice(0, DEMO_LIMITS.maxQuotedLines));
  const what = isThere ? 'It is there already. All of it becomes' : 'A new file with';
  return `${what} ${count(lines.length, 'line')}${begins}:\n\n${quoted}`;
}

/** The tool answers with files of that name in any folder. */
function isFound(path: string, sights: readonly Sight[]): boolean {
  return sights.some(
    ({ look, result }) =>
      look.type === 'find' &&
      look.pattern === path &&
      readListing(result.text).lines.includes(path),
  );
}

function detailReplace(
  { path, from, to }: Typed<'replace'>,
  files: Files,
  sights: readonly Sight[],
): string {
  const text = files.get(path);
  if (text === undefined) return notSeen(path, sights);
  const times = text.split(from).length - 1;
  if (times === 0 || from === '')
    return `${code(from)} does not stand in it, so nothing would change.`;
  files.set(
    path,
    text.replaceAll(from, () => to),
  );
  const pairs = linesOf(text).flatMap((line, index) => changed(line, index, from, to));
  // A text of several lines stands in none of them.
  const isLong = pairs.length === 0;
  const diff = isLong ? [...marked('-', from), ...marked('+', to)] : pairs.flat();
  const quoted = fence('diff', diff.slice(0, DEMO_LIMITS.maxQuotedLines));
  return `${code(from)} becomes ${code(to)}, ${count(times, 'time')}:\n\n${quoted}`;
}

function changed(line: string, index: number, from: string, to: string): string[][] {
  if (!line.includes(from)) return [];
  const after = line.replaceAll(from, () => to);
  return [[`@@ line ${index + 1} @@`, ...marked('-', line), ...marked('+', after)]];
}

function marked(mark: '-' | '+', text: string): string[] {
  return linesOf(text).map((line) => `${mark}${line}`);
}

function detailDelete({ path }: Typed<'delete'>, files: Files, sights: readonly Sight[]): string {
  const text = files.get(path);
  if (text === undefined) return notSeen(path, sights);
  files.delete(path);
  return `It has ${count(linesOf(text).length, 'line')} now.`;
}

/** Of an empty text, none. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** A file that could not be read, or that an earlier step takes away. */
function notSeen(path: string, sights: readonly Sight[]): string {
  const sight = sights.find(({ look }) => look.type === 'read' && look.path === path);
  if (!sight?.result.failed) return 'It is gone by then: this step needs another file.';
  const { message } = errorOf(sight.result.text);
  return `I could not read it: ${cut(message, DEMO_LIMITS.maxErrorChars)}`;
}

function detailUnknown(text: string, sights: readonly Sight[]): string {
  const sight = sights.find(({ look }) => look.type === 'explore' && look.question === text);
  const places = sight ? readPassages(sight.result.text) : [];
  const own = 'This goes beyond fixed rules, so it stands here as you put it.';
  if (places.length === 0) return own;
  const shown = places.slice(0, DEMO_LIMITS.maxQuotedEntries);
  return `${own} The places that come closest:\n\n${shown.map(({ place }) => `- ${code(place)}`).join('\n')}`;
}
