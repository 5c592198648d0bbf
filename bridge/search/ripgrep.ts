/** Runs ripgrep in a folder of the workspace and yields the records of its output one by one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { rgPath } from '@vscode/ripgrep';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { ToolFailure, toFileFailure } from '../failure.ts';
import { anchorFolder } from '../workspace/anchor.ts';
import { IGNORE_FILES, type IgnoreRules, readRulesAbove, withRulesBelow } from './ignore-files.ts';
import { splitRecords } from './records.ts';

export interface Ripgrep {
  /** Absolute and resolved; ripgrep runs in this very folder, and names what it finds relative to it. */
  readonly folder: string;
  /** What comes from a call must be joined to its flag (`--glob=...`), so that it cannot be one itself. */
  readonly flags: readonly string[];
  /** What to search in the folder: `./` for all of it, or `./name` for one file. */
  readonly target: string;
  readonly separator: '\n' | '\0';
  /** Those of {@link readIgnoreRules}, where several searches of a folder belong together; else they are read for this one. */
  readonly rules?: IgnoreRules;
  readonly signal: AbortSignal;
}

/**
 * Yields the output's records; null stands for one too long to be read. The process is killed when the reader stops,
 * the signal aborts or the time is up. Failures: `SEARCH_REFUSED` when ripgrep does not take the arguments, with its
 * own words, and `SEARCH_TIMED_OUT`.
 */
export async function* runRipgrep(search: Ripgrep): AsyncGenerator<string | null, void, undefined> {
  yield* runWith(search.rules ?? (await readIgnoreRules(search)), search);
}

/** All rules that hold in the folder and below it. Files of rules in folders that are ignored themselves do not matter. */
export async function readIgnoreRules(
  search: Pick<Ripgrep, 'folder' | 'target' | 'signal'>,
): Promise<IgnoreRules> {
  const { rules } = await readRulesAbove(search.folder);
  if (search.target !== './') return rules;
  const flags = [
    '--files',
    '--null',
    '--hidden',
    ...IGNORE_FILES.map((name) => `--glob=**/${name}`),
  ];
  const names: string[] = [];
  for await (const name of runWith(rules, { ...search, flags, separator: '\0' })) {
    if (name !== null) names.push(name.replace(/^\.\//, ''));
    if (names.length === TOOL_LIMITS.maxIgnoreFiles) break;
  }
  return await withRulesBelow(rules, search.folder, names);
}

/** Whatever holds ripgrep up, such as a file that is swapped for a pipe between its look and its opening, the time is bounded. */
async function* runWith(
  rules: IgnoreRules,
  { folder, flags, target, separator, signal }: Ripgrep,
): AsyncGenerator<string | null, void, undefined> {
  const timeUp = AbortSignal.timeout(TOOL_LIMITS.searchTimeoutMs);
  await using anchor = await anchorFolder(folder);
  await using ruleFile = await openRules(rules.flat().join('\n'));
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
  ending.addEventListener('abort', stop, { once: true });
  let hasYielded = false;
  try {
    for await (const record of splitRecords(outputOf(child), separator)) {
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
    ending.removeEventListener('abort', stop);
    endAtOnce(child);
  }
}

function outputOf({ stdout }: ChildProcess): Readable {
  if (stdout === null) throw new Error('ripgrep was started without its output');
  return stdout;
}

/** Its output is closed too: a process that hangs in the system does not even die of SIGKILL, and would hold it open. */
function endAtOnce(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.stdout?.destroy(new Error('the search was ended'));
}

/** A file without a name, so that nobody can change it, or wait for it to be left behind. */
async function openRules(text: string): Promise<FileHandle> {
  const path = join(tmpdir(), `drawbridge-${randomUUID()}.ignore`);
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return await open(path, 'r');
  } catch (error) {
    throw toFileFailure(error, 'A temporary file for the search');
  } finally {
    await rm(path, { force: true });
  }
}

/** The rules come as the first descriptor after the usual three. */
const RULES_FLAG = '--ignore-file=/dev/fd/3';

/**
 * `--no-ignore` keeps it from opening files of rules by itself, see ignore-files.ts. `--no-messages` leaves complaints about
 * the arguments and drops those about single files.
 */
const FIXED_FLAGS = ['--no-config', '--no-ignore', '--no-messages', '--color=never'];

/** The last glob that matches a file decides, so `.git` stays out whatever was asked for. */
const LAST_FLAGS = ['--glob=!.git', '--'];

/** ripgrep's exit code for an error, also for one among results. */
const FAILED = 2;

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
