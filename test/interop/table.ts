/** How a test file states its rows of the conformance table, which `npm run conformance` makes. */
import type { TestOptions } from 'vitest';

/** A foreign suite or program. Several files may have tests of the same one. */
export interface Row {
  readonly suite: string;
  /** The pinned version, or what stands for it where there is none. */
  readonly version: string;
  /** Why its tests cannot run on this machine; they are skipped for it. Undefined where they can run. */
  readonly notRun?: string | undefined;
}

declare module 'vitest' {
  interface TaskMeta {
    row?: Row;
    /** Why the suite's case does not pass. See {@link leftBecause}. */
    left?: string;
  }
}

/**
 * The options of a `describe` or an `it` that count for a row: each test is one case, and the row's figures are what
 * vitest reports of them. A test inside with a row of its own counts for that one alone.
 *
 *     it('works for ten turns', row({ suite: 'Codex', version: '0.171.0', notRun: NO_REGISTRY }), async () => …);
 *
 * A file that runs twice what vitest counts once states each part as a test of its own.
 */
export function row(stated: Row): TestOptions {
  return { meta: { row: stated }, skip: stated.notRun !== undefined };
}

/**
 * The options of a case that the suite does not pass, with the reason; null for one that passes. Its test asserts that
 * the suite refuses it, so that the table cannot go on naming what has been repaired. It counts as left, not as passed.
 */
export function leftBecause(reason: string | null): TestOptions {
  return reason === null ? {} : { meta: { left: reason } };
}

/** One test as vitest reports it. */
export interface Case {
  readonly row: Row;
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  readonly left?: string | undefined;
}

/** One line of the table. */
export interface Line extends Row {
  readonly passed: number;
  readonly of: number;
  /** What did not pass, each with the reason. */
  readonly left: readonly string[];
  /** Whether something failed that is not known to fail, or did not run without saying why. */
  readonly isBroken: boolean;
}

/** The lines of these cases, by the names of the suites. */
export function linesOf(cases: readonly Case[]): Line[] {
  const groups = Map.groupBy(cases, ({ row }) => `${row.suite} ${row.version}`);
  const lines = Array.from(groups.values(), (group) => toLine(group));
  return lines.sort((one, other) => one.suite.localeCompare(other.suite, 'en'));
}

function toLine(cases: readonly Case[]): Line {
  const { suite, version } = cases[0]?.row ?? { suite: '', version: '' };
  const passed = cases.filter(({ state, left }) => state === 'passed' && left === undefined);
  const rest = cases.filter((each) => !passed.includes(each));
  const reasons = Map.groupBy(rest, reasonOf);
  const left = [...reasons].map(
    ([reason, of]) => `${of.map(({ name }) => name).join(', ')}: ${reason}`,
  );
  const notRun = cases.every(({ row }) => row.notRun !== undefined)
    ? cases[0]?.row.notRun
    : undefined;
  return {
    suite,
    version,
    notRun,
    passed: passed.length,
    of: cases.length,
    left: notRun === undefined ? left : [],
    isBroken: rest.some((each) => isBroken(each)),
  };
}

function isBroken({ row, state, left }: Case): boolean {
  return state === 'passed' ? left === undefined : row.notRun === undefined;
}

function reasonOf({ row, state, left }: Case): string {
  if (state === 'passed') return left ?? '';
  if (row.notRun !== undefined) return `not run, ${row.notRun}`;
  return state === 'failed' ? '**failed**' : '**did not run**';
}

/** Totals in one sentence, for the page and for README.md. */
export function summaryOf(lines: readonly Line[]): string {
  const ran = lines.filter(({ notRun }) => notRun === undefined);
  const sum = (of: 'passed' | 'of') => ran.reduce((total, line) => total + line[of], 0);
  const notRun = lines.length - ran.length;
  const rest = notRun === 0 ? '' : `; ${notRun} not run`;
  return `${ran.length} foreign suites and programs, ${sum('passed')} of ${sum('of')} cases passed${rest}`;
}

/** The lines as one table. */
export function toTable(lines: readonly Line[]): string {
  const rows = lines.map((line) => [...factsOf(line), reasonsOf(line).join('; ')]);
  return toMarkdown([['Suite or program', 'Version', 'Passed', 'What is left, and why'], ...rows]);
}

/** The same for a page, where what is left would make the table too wide. */
export function toPage(lines: readonly Line[]): string {
  const table = toMarkdown([['Suite or program', 'Version', 'Passed'], ...lines.map(factsOf)]);
  const left = lines.flatMap((line) => {
    const reasons = reasonsOf(line).map((reason) => `  - ${reason}`);
    return reasons.length === 0 ? [] : [`- ${line.suite}:`, ...reasons];
  });
  return `${table}\n\n## What is left, and why\n\n${left.join('\n')}`;
}

function factsOf({ suite, version, notRun, passed, of }: Line): string[] {
  return [suite, version, notRun === undefined ? `${passed} of ${of}` : 'not run'];
}

function reasonsOf({ notRun, left }: Line): readonly string[] {
  return notRun === undefined ? left : [notRun];
}

function toMarkdown([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
