/** What the demo model says: before its calls, and of what they came to. */
import { DEMO_LIMITS } from '../../../shared/limits.ts';
import { EDGE_TOOLS } from '../../../shared/tools/catalogue.ts';
import { type Call, TOOLS_OF, tellingFiles } from './calls.ts';
import type { Result } from './history.ts';
import { count, joined, wish } from './naming.ts';
import { code, quoteFile, quoteLines } from './quote.ts';
import { errorOf, numberedLines, readCommandEnd, readListing, readPassages } from './results.ts';
import type { Step } from './steps.ts';
import { describeProject } from './summary.ts';

export const INTRODUCTION =
  "I am Drawbridge's built-in demo model: a small planner with fixed rules, not a language model.";

export const HELP = `I understand plain requests about the files of this workspace, such as:

- what is in this project
- create notes.md with "Hello" and then read notes.md
- replace "Hello" with "Good evening" in notes.md, then run \`cat notes.md\`

I can also list folders, find files, search text and delete files; in plan mode I lay changes out as a plan. For anything more, set \`OPENAI_BASE_URL\` and \`OPENAI_API_KEY\` and a real model answers.`;

/** Before the one question. */
export const ASK_FIRST = 'One thing only you can say.';

/** The question was not answered. */
export const LEAVE = 'Without an answer I leave it at that. Nothing was changed.';

/** One sentence before calls. */
export function announce(calls: readonly Call[]): string {
  return `I'll ${joined(calls.map(doing))}.`;
}

/** What a step that is over came to. */
export function report(step: Step, results: readonly Result[]): string {
  const last = results.at(-1);
  if (step.type === 'unknown') return `I did not understand ${code(step.text)}, so I left it.`;
  if (!last) return `There was nothing to do to ${wish(step)}.`;
  if (step.type === 'summarise') return reportSummary(results, last);
  if (last.failed) return `I could not ${wish(step)}: ${problem(last)}`;
  switch (step.type) {
    case 'read':
      return reportRead(step.path, last);
    case 'list':
      return reportListing(`In ${code(step.path)}`, last);
    case 'find':
    case 'search':
      return reportListing(`The search for ${code(step.pattern)}`, last);
    case 'explore':
      return reportExploration(step.question, last);
    case 'plan':
      return reportPlan(step.steps);
    case 'write':
      return `I wrote ${code(step.path)}. ${last.text}`;
    case 'replace':
      return `I replaced ${code(step.from)} with ${code(step.to)} in ${code(step.path)}. ${last.text}`;
    case 'delete':
      return `I deleted ${code(step.path)}.`;
    case 'run':
      return reportRun(step.command, last);
  }
}

/** A step whose tool is not on offer. */
export function reportMissing(step: Step, tools: ReadonlySet<string>): string {
  const missing = TOOLS_OF[step.type].filter((name) => !tools.has(name)).map(code);
  const are = missing.length === 1 ? 'is' : 'are';
  const why = [...tools].every((name) => NEEDS_NO_MACHINE.has(name))
    ? 'there are no tools for that, because no bridge to a machine is attached'
    : `${joined(missing)} ${are} not on offer in this mode or on this bridge`;
  return `I could not ${wish(step)}: ${why}.`;
}

const NEEDS_NO_MACHINE: ReadonlySet<string> = new Set(EDGE_TOOLS.map(({ name }) => name));

export function reportStopped(rest: readonly Step[]): string {
  return `So I stopped there, and did not ${joined(rest.map(wish))}.`;
}

function doing({ name, arguments: args }: Call): string {
  switch (name) {
    case 'read_file':
      return `read ${code(String(args['target_file']))}`;
    case 'list_dir':
      return `list ${code(String(args['target_directory']))}`;
    case 'glob_file_search':
      return `look for files like ${code(String(args['glob_pattern']))}`;
    case 'grep':
      return `search for ${code(String(args['pattern']))}`;
    case 'codebase_search':
      return `look into ${code(String(args['query']))}`;
    case 'create_plan':
      return 'lay out the plan';
    case 'write':
      return `write ${code(String(args['path']))}`;
    case 'str_replace':
      return `change ${code(String(args['file_path']))}`;
    case 'delete_file':
      return `delete ${code(String(args['target_file']))}`;
    default:
      return `run ${code(String(args['command']))}`;
  }
}

function reportRead(path: string, { text }: Result): string {
  const lines = numberedLines(text);
  if (lines.length === 0) return `${code(path)}: ${readListing(text).note || 'there is no text'}`;
  const { maxQuotedLines } = DEMO_LIMITS;
  const begins = lines.length > maxQuotedLines ? ' It begins:' : '';
  const quoted = quoteFile(path, lines, maxQuotedLines);
  return `I read ${count(lines.length, 'line')} of ${code(path)}.${begins}\n\n${quoted}`;
}

function reportListing(subject: string, { text }: Result): string {
  const { lines, note } = readListing(text);
  if (lines.length === 0) return `${subject}: ${note || 'nothing'}`;
  const quoted = quoteLines(lines, DEMO_LIMITS.maxQuotedEntries);
  return [`${subject}:`, quoted, ...(note === '' ? [] : [note])].join('\n\n');
}

function reportExploration(question: string, result: Result): string {
  const [best, ...others] = readPassages(result.text);
  if (!best) return reportListing(`The search for ${code(question)}`, result);
  const quoted = quoteFile(best.path, best.lines, DEMO_LIMITS.maxQuotedLines);
  const also = others.slice(0, DEMO_LIMITS.maxQuotedEntries).map(({ place }) => code(place));
  return [
    `What comes closest to ${code(question)}:\n\n${quoted}`,
    ...(also.length > 0 ? [`See also ${joined(also)}.`] : []),
  ].join('\n\n');
}

function reportPlan(steps: readonly Step[]): string {
  const next = steps.some(({ type }) => type === 'unknown')
    ? 'carrying all of it out takes a language model'
    : 'ask for the same in agent mode, and I carry it out';
  return `That is the plan, with ${count(steps.length, 'step')}: ${next}.`;
}

function reportRun(command: string, { text }: Result): string {
  const { ending, output } = readCommandEnd(text);
  const exitCode = /^Exit code: (-?\d+)$/.exec(ending)?.[1];
  const ended = exitCode === undefined ? `: ${ending}` : ` ended with exit code ${exitCode}.`;
  if (output.length === 0) return `${code(command)}${ended} It printed nothing.`;
  const quoted = quoteLines(output, DEMO_LIMITS.maxQuotedEntries);
  return `${code(command)}${ended} It printed:\n\n${quoted}`;
}

function reportSummary(results: readonly Result[], last: Result): string {
  const [listing = last, ...files] = results;
  if (listing.failed) return `I could not look at the project: ${problem(listing)}`;
  const read = tellingFiles(listing).map((path, index) => ({ path, result: files[index] ?? last }));
  return describeProject(listing, read);
}

function problem({ text }: Result): string {
  const { code: name, message } = errorOf(text);
  const short = message.slice(0, DEMO_LIMITS.maxErrorChars).toWellFormed();
  return `${short || 'no reason was given'}${name === '' ? '' : ` (${name})`}`;
}
