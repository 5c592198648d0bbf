/** The processes that have started this one. An editor is an ancestor of what runs in its terminal. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { DISCOVERY_LIMITS } from './limits.ts';

/** A process's parent, as far as the system shows it. */
type ParentOf = (pid: number) => number | undefined | Promise<number | undefined>;

/**
 * Nearest first, without the system's first process. Empty where the system does not show them: ancestors
 * only rank candidates. Rejects with the signal's reason alone.
 */
export async function ancestorsOf(
  pid: number,
  platform: NodeJS.Platform,
  signal: AbortSignal,
): Promise<readonly number[]> {
  try {
    return await climb(pid, platform === 'linux' ? readParent : await snapshot(signal));
  } catch {
    signal.throwIfAborted();
    return []; // No `ps`, or none in time.
  }
}

async function climb(pid: number, parentOf: ParentOf): Promise<readonly number[]> {
  const ancestors: number[] = [];
  for (let at = pid; ancestors.length < DISCOVERY_LIMITS.maxAncestors; ) {
    const parent = await parentOf(at);
    // Where numbers are used again, a parent that has exited can look like a descendant.
    if (parent === undefined || parent <= 1 || parent === pid || ancestors.includes(parent)) break;
    ancestors.push(parent);
    at = parent;
  }
  return ancestors;
}

/** `pid (command) state parent …`, where the command may hold anything. Undefined once the process has exited. */
async function readParent(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const parent = /^\S+ (\d+)/.exec(text.slice(text.lastIndexOf(')') + 2))?.[1];
  return parent === undefined ? undefined : Number(parent);
}

/** By lines of a process id and its parent's. */
async function snapshot(signal: AbortSignal): Promise<ParentOf> {
  const { psMs: timeout, maxSnapshotBytes: maxBuffer } = DISCOVERY_LIMITS;
  const options = { timeout, maxBuffer, signal };
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axo', 'pid=,ppid='], options);
  const lines = stdout.matchAll(/^ *(\d+) +(\d+) *$/gm);
  const parents = new Map(Array.from(lines, ([, pid, parent]) => [Number(pid), Number(parent)]));
  return (pid) => parents.get(pid);
}
