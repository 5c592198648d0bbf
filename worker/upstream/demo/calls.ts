/** The calls of each step: most need one, some look first and act on what they saw. */
import type { Result } from './history.ts';
import { errorOf, numberedLines, readCommandEnd, readListing } from './results.ts';
import { sampleContent } from './sample-content.ts';
import type { Step, Wish } from './steps.ts';
import { writePlan } from './written-plan.ts';

export interface Call {
  /** Canonical name and arguments, as in shared/tools/. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a step cannot do without. */
export const TOOLS_OF: Readonly<Record<Step['type'], readonly string[]>> = {
  read: ['read_file'],
  list: ['list_dir'],
  find: ['glob_file_search'],
  search: ['grep'],
  explore: ['codebase_search'],
  write: ['write'],
  replace: ['read_file', 'str_replace'],
  delete: ['delete_file'],
  run: ['run_terminal_cmd'],
  summarise: ['list_dir', 'read_file'],
  plan: ['create_plan', 'list_dir', 'read_file'],
  unknown: [],
};

/** The calls to make next, given the results of the step's earlier ones; none when the step is over. */
export function callsOf(step: Step, results: readonly Result[]): readonly Call[] {
  switch (step.type) {
    case 'write':
      return writeCalls(step, results);
    case 'replace':
      return replaceCalls(step, results);
    case 'summarise':
      return summariseCalls(results);
    case 'plan':
      return planCalls(step, results);
    case 'unknown':
      return [];
    default:
      return results.length === 0 ? [onlyCall(step)] : [];
  }
}

/** Whether the step does more than look: after its failure nothing that follows it is done. */
export function changesThings({ type }: Wish | Step): boolean {
  return type === 'write' || type === 'replace' || type === 'delete' || type === 'run';
}

/** Whether a step that is over did not come to what was asked for; a command fails by its exit code as well. */
export function hasFailed(step: Step, results: readonly Result[]): boolean {
  const last = results.at(-1);
  if (!last || last.failed) return true;
  return step.type === 'run' && !readCommandEnd(last.text).succeeded;
}

type Typed<Type extends Step['type']> = Extract<Step, { type: Type }>;

function onlyCall(
  step: Typed<'read' | 'list' | 'find' | 'search' | 'explore' | 'delete' | 'run'>,
): Call {
  switch (step.type) {
    case 'read':
      return readCall(step.path);
    case 'list':
      return listCall(step.path);
    case 'find':
      return {
        name: 'glob_file_search',
        arguments: { glob_pattern: step.pattern, target_directory: step.path },
      };
    case 'search':
      return {
        name: 'grep',
        arguments: { pattern: step.pattern, ...(step.path !== null && { path: step.path }) },
      };
    case 'explore':
      return { name: 'codebase_search', arguments: { query: step.question } };
    case 'delete':
      return { name: 'delete_file', arguments: { target_file: step.path } };
    case 'run':
      return { name: 'run_terminal_cmd', arguments: { command: step.command } };
  }
}

/** A file that is there already is replaced only by content that the user gave, and must have been read first. */
function writeCalls({ path, content }: Typed<'write'>, results: readonly Result[]): Call[] {
  const write = { name: 'write', arguments: { path, contents: content ?? sampleContent(path) } };
  const [first, second] = results;
  if (!first) return [write];
  const unread = first.failed && content !== null && errorOf(first.text).code === 'READ_FIRST';
  if (!unread) return [];
  if (!second) return [readCall(path)];
  return results.length === 2 && !second.failed ? [write] : [];
}

function replaceCalls({ path, from, to }: Typed<'replace'>, results: readonly Result[]): Call[] {
  const [file, replaced] = results;
  if (!file) return [readCall(path)];
  if (file.failed || replaced) return [];
  const text = numberedLines(file.text)
    .map((line) => line.text)
    .join('\n');
  const isRepeated = text.split(from).length > 2;
  return [
    {
      name: 'str_replace',
      arguments: {
        file_path: path,
        old_string: from,
        new_string: to,
        ...(isRepeated && { replace_all: true }),
      },
    },
  ];
}

/** First the folder, then what tells most about it. */
function summariseCalls(results: readonly Result[]): Call[] {
  const [listing] = results;
  if (!listing) return [listCall('.')];
  if (listing.failed || results.length > 1) return [];
  return tellingFiles(listing).map(readCall);
}

/** First everything that the plan is about, then the plan. */
function planCalls({ steps, looks }: Typed<'plan'>, results: readonly Result[]): Call[] {
  if (results.length === 0) return looks.flatMap((look) => callsOf(look, []));
  if (results.length > looks.length) return [];
  const seen = looks.map((look, index) => ({ look, result: results[index] as Result }));
  return [{ name: 'create_plan', arguments: { ...writePlan(steps, seen) } }];
}

/** The readme and the manifest of a listing, where it has them. */
export function tellingFiles(listing: Result): string[] {
  const names = readListing(listing.text).lines.flatMap((line) => line.match(/[\w.-]+/g) ?? []);
  const telling = [README, MANIFEST].map((form) => names.find((name) => form.test(name)));
  return telling.filter((name) => name !== undefined);
}

const README = /^readme(?:\.(?:md|txt|rst))?$/i;
const MANIFEST = /^(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|pom\.xml|composer\.json)$/;

function readCall(path: string): Call {
  return { name: 'read_file', arguments: { target_file: path } };
}

function listCall(path: string): Call {
  return { name: 'list_dir', arguments: { target_directory: path } };
}
