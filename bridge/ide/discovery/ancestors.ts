/** The processes that have started this one. An editor is an ancestor of what runs in its terminal. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DISCOVERY_LIMITS } from './limits.ts';

/** A process's parent, as far as the system tells. */
type ParentOf = (pid: number) => number | undefined | Promise<number | undefined>;

/**
 * Nearest first, without the system's first process. Empty where the system does not tell: ancestors only rank
 * candidates. Rejects with the signal's reason alone.
 */
export async function ancestorsOf(
  pid: number,
  platform: NodeJS.Platform,
  signal: AbortSignal,
): Promise<readonly number[]> {
  try {
    return await climb(pid, platform === 'linux' ? readParent : await snapshot(platform, signal));
  } catch {
    signal.throwIfAborted();
    return []; // No `ps`, no PowerShell, or none in time.
  }
}

async function climb(pid: number, parentOf: ParentOf): Promise<readonly number[]> {
  const ancestors: number[] = [];
  for (let at = pid; ancestors.length < DISCOVERY_LIMITS.maxAncestors; ) {
    const parent = await parentOf(at);
    // Where numbers are used again, a parent that has ended can look like a descendant.
    if (parent === undefined || parent <= 1 || parent === pid || ancestors.includes(parent)) break;
    ancestors.push(parent);
    at = parent;
  }
  return ancestors;
}

/** `pid (command) state parent …`, where the command may hold anything. Undefined once the process has ended. */
async function readParent(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const parent = /^\S+ (\d+)/.exec(text.slice(text.lastIndexOf(')') + 2))?.[1];
  return parent === undefined ? undefined : Number(parent);
}

async function snapshot(platform: NodeJS.Platform, signal: AbortSignal): Promise<ParentOf> {
  const { program, args, timeout } = platform === 'win32' ? powershell() : PS;
  const maxBuffer = DISCOVERY_LIMITS.maxSnapshotBytes;
  const options = { timeout, maxBuffer, signal, windowsHide: true };
  const { stdout } = await promisify(execFile)(program, args, options);
  const parents = parseParents(stdout);
  return (pid) => parents.get(pid);
}

/** Lines of a process id and its parent's. */
export function parseParents(text: string): ReadonlyMap<number, number> {
  const lines = text.matchAll(/^[ \t]*(\d+)[ \t]+(\d+)[ \t]*\r?$/gm);
  return new Map(Array.from(lines, ([, pid, parent]) => [Number(pid), Number(parent)]));
}

const PS = {
  program: '/bin/ps',
  args: ['-axo', 'pid=,ppid='],
  timeout: DISCOVERY_LIMITS.psMs,
};

function powershell(): typeof PS {
  const { SystemRoot = 'C:\\Windows' } = process.env;
  const list =
    'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId)" }';
  return {
    program: join(SystemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
    args: ['-NoProfile', '-NonInteractive', '-Command', list],
    timeout: DISCOVERY_LIMITS.powershellMs,
  };
}
