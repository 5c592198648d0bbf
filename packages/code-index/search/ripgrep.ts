/** Runs ripgrep in a folder of the workspace and yields the records of its output as they come. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { addAbortListener, once } from 'node:events';
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { rgPath } from '@vscode/ripgrep';
import { ToolFailure, toFileFailure } from '../../../machine/failure.ts';
import { codeOf } from '../../../machine/system-error.ts';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { anchorFolder } from '../../workspace/index.ts';
import { type IgnoreRules, toRuleText } from './ignore-files.ts';
import { SEARCH_LIMITS } from './limits.ts';
import { type Records, splitRecords } from './records.ts';

export interface Ripgrep {
  /** Absolute and resolved. ripgrep runs in this very folder and prints paths relative to it. */
  readonly folder: string;
  /** A value from a call must be joined to its flag (`--glob=...`), so that it cannot act as a flag itself. */
  readonly flags: readonly string[];
  /** The part of the folder to search: `./` for all of it, or `./name` for one file. */
  readonly target: string;
  readonly separator: '\n' | '\0';
  /** See ruled-search.ts. */
  readonly rules: IgnoreRules;
  readonly signal: AbortSignal;
}

/**
 * Yields the output's records, some at a time. Kills the process when the reader stops, the signal aborts or the time is up: a pipe that
 * replaces a file just before ripgrep opens it would block ripgrep. Failures: `SEARCH_REFUSED` with ripgrep's own message
 * when it rejects the arguments, `SEARCH_TIMED_OUT`, and `SEARCH_FAILED` where it does not start, or a signal ended it:
 * records may be missing then, also where some have been yielded.
 */
export async function* runRipgrep(search: Ripgrep): AsyncGenerator<Records, void, undefined> {
  const { folder, flags, target, separator, rules, signal } = search;
  const timeUp = AbortSignal.timeout(SEARCH_LIMITS.searchTimeoutMs);
  await using anchor = await anchorFolder(folder);
  using ruleFile = openRules(toRuleText(rules));
  signal.throwIfAborted();
  const child = spawn(
    existsSync(rgPath) ? rgPath : 'rg',
    [...FIXED_FLAGS, RULES_FLAG, ...flags, ...LAST_FLAGS, target],
    { cwd: anchor.entry('.'), env: {}, stdio: ['ignore', 'pipe', 'pipe', ruleFile.fd] },
  );
  const ended = endOf(child);
  const complaint = readComplaint(child);
  const ending = AbortSignal.any([signal, timeUp]);
  const stop = () => endAtOnce(child);
  if (ending.aborted) stop();
  using _stopping = addAbortListener(ending, stop);
  let hasYielded = false;
  try {
    for await (const records of splitRecords(outputOf(child), separator)) {
      hasYielded = true;
      yield records;
    }
    const exitCode = await ended;
    if (exitCode === null || exitCode > FAILED)
      throw failed(`it ended with ${child.signalCode ?? exitCode}`);
    // Code 2 with records means that some files could not be read. The records still count.
    const message = await complaint;
    if (exitCode === FAILED && !hasYielded && message !== '') throw refused(message);
  } catch (error) {
    signal.throwIfAborted();
    throw timeUp.aborted ? timedOut() : error;
  } finally {
    endAtOnce(child);
  }
}

function outputOf({ stdout }: ChildProcess): Readable {
  // It has none where this process may open no more files.
  if (!stdout) throw failed('it was started without its output');
  return stdout;
}

/**
 * Closes the output too: a process that hangs in the kernel does not die of SIGKILL, and would hold the output open.
 */
function endAtOnce(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.stdout?.destroy(new Error('the search was ended'));
}

/** A file without a name: no program can change it, and none stays behind. */
function openRules(text: string): Disposable & { readonly fd: number } {
  try {
    const fd = openNameless();
    if (text !== '') writeSync(fd, text, 0);
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    throw toFileFailure(error, 'A temporary file for the search');
  }
}

function openNameless(): number {
  try {
    if (process.platform === 'linux') {
      return openSync(tmpdir(), constants.O_RDWR | O_TMPFILE, 0o600);
    }
  } catch {
    // Some file systems make only files with a name.
  }
  const path = join(tmpdir(), `drawbridge-${randomUUID()}.ignore`);
  try {
    return openSync(path, 'wx+', 0o600);
  } finally {
    rmSync(path, { force: true });
  }
}

/** Of Linux; Node has no name for it. */
const O_TMPFILE = 0o20200000;

/** The rules come as the first descriptor after the usual three. */
const RULES_FLAG = '--ignore-file=/dev/fd/3';

/**
 * `--no-ignore` keeps ripgrep from opening ignore files itself, see ignore-files.ts. `--no-messages` drops errors about
 * single files and keeps errors about the arguments.
 */
const FIXED_FLAGS = ['--no-config', '--no-ignore', '--no-messages', '--color=never'];

/** The last matching glob decides, so `.git` stays out whatever the call asks for. */
const LAST_FLAGS = ['--glob=!.git', '--'];

/** ripgrep's exit code for an error, even with results. */
const FAILED = 2;

/** The exit code; null after a signal. Rejects when the process did not start. */
function endOf(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'close').then(
    ([code]: (number | null)[]) => code ?? null,
    (error) => {
      throw failed(`it did not start: ${codeOf(error)}`, error);
    },
  );
  // A reader that stops early never awaits the end.
  ended.catch(() => {});
  return ended;
}

async function readComplaint(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stderr?.setEncoding('utf8') ?? []) {
    if (text.length < TOOL_LIMITS.maxLineChars) text += chunk;
  }
  return text.slice(0, TOOL_LIMITS.maxLineChars).trim();
}

function refused(message: string): ToolFailure {
  return new ToolFailure(
    'SEARCH_REFUSED',
    `ripgrep does not take these arguments: correct them. It says: ${message}`,
  );
}

function failed(why: string, cause?: unknown): ToolFailure {
  return new ToolFailure(
    'SEARCH_FAILED',
    `ripgrep could not search everything (${why}): try again, and ask the person to look at the machine's memory and open files.`,
    { cause },
  );
}

function timedOut(): ToolFailure {
  return new ToolFailure(
    'SEARCH_TIMED_OUT',
    `The search did not end within ${SEARCH_LIMITS.searchTimeoutMs} ms: narrow it by path, glob or type.`,
  );
}
