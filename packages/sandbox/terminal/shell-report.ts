/** What a command's shell reports at its end: its folder, and its exported variables. */
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { TERMINAL_LIMITS } from './limits.ts';
import { endOf } from './stream-end.ts';

/** The end of one command's shell. The program's own word: nothing in it is trusted. */
export interface ShellReport {
  /** As the shell says it. */
  readonly folder: string;
  /**
   * The exported variables that differ from those of the shell's start; null for one that is gone. Undefined where the
   * shell did not list all of them: a list that failed looks like one of few.
   */
  readonly variables: Variables | undefined;
  /** The names of variables whose values are no text. They are not in `variables`. */
  readonly unreadable: readonly string[];
}

export type Variables = ReadonlyMap<string, string | null>;

/**
 * A script for a shell whose first argument is a command line. It runs the line, and writes to the descriptor its folder
 * and its variables at the end, each with an end of its own, which comes only after success: the program that lists
 * variables does not start with one of 128 KiB, or below a limit that the line has set. A line that ends the shell itself (`exit`, `exec`) writes nothing, so it changes nothing
 * for later commands. The line does not get the descriptor. At SIGTERM the shell waits for the program that runs: with
 * the shell its sandbox would end, before the program could clean up.
 */
export function reportingScript(descriptor: number): string {
  return `trap 'exit 143' TERM; eval "shift; $1" ${descriptor}>&-
set -- "$?"
{ command pwd -P && command printf '\\0' && ${ENV} -0 && command printf '\\0'; } >&${descriptor} 2>/dev/null || :
exit "$1"`;
}

/** By its path: the line may have changed PATH, or have a function of that name. */
const ENV = existsSync('/usr/bin/env') ? '/usr/bin/env' : '/bin/env';

/** Undefined for one that has no folder. `began` are the variables of the shell's start. */
export function parseShellReport(
  text: string,
  began: Readonly<Record<string, string>>,
): ShellReport | undefined {
  const [line = '', ...after] = text.split('\0');
  if (!line.startsWith('/') || !line.endsWith('\n') || after.length === 0) return undefined;
  const listed = after.flatMap(toVariable);
  const folder = line.slice(0, -1);
  // Without PATH, later commands would find no program.
  const isWhole = text.endsWith('\0\0') && listed.some(([name]) => name === 'PATH');
  if (!isWhole) return { folder, variables: undefined, unreadable: [] };
  const unreadable = listed.flatMap(([name, value]) =>
    isKept(name) && !isText(value) ? [name] : [],
  );
  const [before, now] = [kept(Object.entries(began)), kept(listed)];
  const changes = [...changesBetween(before, now)].filter(([name]) => !unreadable.includes(name));
  return { folder, variables: new Map(changes), unreadable };
}

function toVariable(line: string): [name: string, value: string][] {
  const at = line.indexOf('=');
  return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
}

function kept(variables: readonly [string, string][]): ReadonlyMap<string, string> {
  return new Map(variables.filter(([name, value]) => isKept(name) && isText(value)));
}

/** A shell sets some names itself, and takes others from no one. */
function isKept(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !OF_THE_SHELL.has(name);
}

/** A value that is none would come back as another one. */
function isText(value: string): boolean {
  return !value.includes('\uFFFD');
}

const OF_THE_SHELL: ReadonlySet<string> = new Set(
  '_ PWD OLDPWD SHLVL UID EUID PPID BASHOPTS SHELLOPTS BASH_VERSINFO'.split(' '),
);

function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Variables {
  const changes = new Map<string, string | null>();
  for (const [name, value] of after) if (before.get(name) !== value) changes.set(name, value);
  for (const name of before.keys()) if (!after.has(name)) changes.set(name, null);
  return changes;
}

/**
 * Reads a report while it comes. The result resolves with it once the shell has gone; undefined for a shell that wrote
 * none, because the line ended it. Of one that is too long, only the folder counts. Whatever still holds the descriptor
 * then is left alone.
 */
export function readShellReport(
  stream: Readable,
  began: Readonly<Record<string, string>> = {},
): () => Promise<ShellReport | undefined> {
  let text = '';
  stream.setEncoding('utf8').on('error', () => {});
  stream.on('data', (more: string) => {
    if (text.length <= TERMINAL_LIMITS.maxReportChars) text += more;
  });
  return async () => {
    await endOf(stream, TERMINAL_LIMITS.drainMs);
    const isLong = text.length > TERMINAL_LIMITS.maxReportChars;
    return parseShellReport(isLong ? text.slice(0, text.indexOf('\0') + 1) : text, began);
  };
}
