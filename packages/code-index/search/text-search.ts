/** Searches a text in memory for a regular expression, in linear time: ripgrep does it, in a process of its own. */

import { spawn } from 'node:child_process';
import { addAbortListener } from 'node:events';
import { existsSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { rgPath } from '@vscode/ripgrep';
import { newDeferred } from '../../../machine/deferred.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import { SEARCH_LIMITS } from './limits.ts';
import { LINE_END_FLAG } from './line-ends.ts';

/**
 * The first line that matches, cut short; undefined if there is none. Throws a ToolFailure: `INVALID_PATTERN` with
 * ripgrep's own message, `SEARCH_TIMED_OUT`.
 */
export async function findLine(
  pattern: string,
  text: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted();
  const file = existsSync(rgPath) ? rgPath : 'rg';
  const child = spawn(file, [...FLAGS, `--regexp=${pattern}`, '--', '-'], { cwd: '/', env: {} });
  const { promise: ended, resolve, reject } = newDeferred<number | null>();
  child.once('error', reject).once('close', resolve);
  const ending = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_LIMITS.searchTimeoutMs)]);
  const stop = () => child.kill('SIGKILL');
  using _stopping = addAbortListener(ending, stop);
  try {
    // ripgrep stops reading at the first match.
    child.stdin.on('error', () => {}).end(text);
    const [found, complaint, exitCode] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      ended,
    ]);
    signal.throwIfAborted();
    if (exitCode === MATCH) return found.trimEnd().slice(0, COMMAND_LIMITS.maxPatternChars);
    if (exitCode === NO_MATCH) return undefined;
    throw exitCode === null ? timedOut() : refused(complaint);
  } finally {
    stop();
  }
}

const FLAGS = [
  ...['--no-config', '--no-ignore', '--color=never', '--text', '--max-count=1'],
  LINE_END_FLAG,
];

/** ripgrep's exit codes. */
const MATCH = 0;
const NO_MATCH = 1;

function refused(complaint: string): ToolFailure {
  const said = complaint.trim().slice(0, COMMAND_LIMITS.maxPatternChars);
  return new ToolFailure(
    'INVALID_PATTERN',
    `ripgrep does not take this pattern: correct it. It says: ${said}`,
  );
}

function timedOut(): ToolFailure {
  return new ToolFailure(
    'SEARCH_TIMED_OUT',
    `The search for the pattern took more than ${SEARCH_LIMITS.searchTimeoutMs} ms: wait for a simpler one.`,
  );
}
