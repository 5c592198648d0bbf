/** Runs ripgrep in a folder of the workspace and yields the records of its output one by one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rgPath } from '@vscode/ripgrep';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { anchorFolder } from '../sandbox/anchor.ts';
import { ToolFailure } from '../sandbox/failure.ts';
import { splitRecords } from './records.ts';

export interface Ripgrep {
  /** Absolute and resolved; ripgrep runs in this very folder, and names what it finds relative to it. */
  readonly folder: string;
  /** What comes from a call must be joined to its flag (`--glob=...`), so that it cannot be one itself. */
  readonly flags: readonly string[];
  /** What to search in the folder: `./` for all of it, or `./name` for one file. */
  readonly target: string;
  readonly separator: '\n' | '\0';
  readonly signal: AbortSignal;
}

/**
 * Yields the output's records; null stands for one too long to be read. The process is killed when the reader stops,
 * the signal aborts or the time is up. Failures: `SEARCH_REFUSED` when ripgrep does not take the arguments, with its
 * own words, and `SEARCH_TIMED_OUT`.
 */
export async function* runRipgrep({
  folder,
  flags,
  target,
  separator,
  signal,
}: Ripgrep): AsyncGenerator<string | null, void, undefined> {
  const timeUp = AbortSignal.timeout(TOOL_LIMITS.searchTimeoutMs);
  await using anchor = await anchorFolder(folder);
  const child = spawn(
    existsSync(rgPath) ? rgPath : 'rg',
    [...FIXED_FLAGS, ...flags, ...LAST_FLAGS, target],
    {
      cwd: anchor.entry('.'),
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: AbortSignal.any([signal, timeUp]),
      killSignal: 'SIGKILL',
    },
  );
  const ended = endOf(child);
  const complaint = readComplaint(child);
  let hasYielded = false;
  try {
    for await (const record of splitRecords(child.stdout, separator)) {
      hasYielded = true;
      yield record;
    }
    const exitCode = await ended;
    // Code 2 with records means that parts could not be read; the rest still counts.
    const message = await complaint;
    if (exitCode === FAILED && !hasYielded && message !== '') throw refused(message);
  } catch (error) {
    signal.throwIfAborted();
    throw timeUp.aborted ? timedOut() : error;
  } finally {
    child.kill('SIGKILL');
  }
}

/** `--no-messages` leaves complaints about the arguments and drops those about single files. */
const FIXED_FLAGS = ['--no-config', '--no-require-git', '--no-messages', '--color=never'];

/** The last glob that matches a file decides, so `.git` stays out whatever was asked for. */
const LAST_FLAGS = ['--glob=!.git', '--'];

/** ripgrep's exit code for an error, also for one among results. */
const FAILED = 2;

/** What ripgrep needs to find git's own configuration of ignored files, and nothing else. */
function environment(): NodeJS.ProcessEnv {
  const { HOME, XDG_CONFIG_HOME, USERPROFILE } = process.env;
  return { HOME, XDG_CONFIG_HOME, USERPROFILE };
}

/** The exit code, or a rejection when the process did not start or was aborted. */
function endOf(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  // A reader that stops early never asks how it ended.
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

function timedOut(): ToolFailure {
  return new ToolFailure(
    'SEARCH_TIMED_OUT',
    `The search did not end within ${TOOL_LIMITS.searchTimeoutMs} ms: narrow it by path, glob or type.`,
  );
}
