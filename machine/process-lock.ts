/** Lets one process at a time use something, and takes over from one that died. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { DrawbridgeError } from '../shared/errors.ts';
import { COMMAND_LIMITS } from '../shared/limits.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from './private-files.ts';

/**
 * Takes the lock, or returns the process that holds it.
 *
 * Whoever wants it appends a claim to the file, and the first claim of a living process that did not give it back
 * holds. Nothing is ever removed, so two that take over from a dead one at the same moment cannot both succeed: the
 * system puts their claims in one order for both.
 */
export function takeProcessLock(
  path: string,
): { readonly ok: true; readonly release: () => void } | { readonly ok: false; holder: number } {
  const id = randomUUID();
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  const release = () => {
    try {
      append(path, { released: id });
    } catch {
      // The disk is full, say. The claim ends with this process all the same.
    }
  };
  append(path, { id, pid: process.pid, started: startOf(process.pid) });
  const holder = findHolder(readFileSync(path, 'utf8'));
  if (holder === undefined || holder.id === id) return { ok: true, release };
  release();
  return { ok: false, holder: holder.pid };
}

const Claim = z.object({
  id: z.string(),
  pid: z.int().positive(),
  /** Tells the process from a later one with the same number; empty where the system does not say. */
  started: z.string(),
});
type Claim = z.infer<typeof Claim>;

const Release = z.object({ released: z.string() });

/** On a line of its own, even after one that was torn by a crash. Never waits, as a FIFO would have it. */
function append(path: string, entry: Claim | z.infer<typeof Release>): void {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, PRIVATE_FILE);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > COMMAND_LIMITS.maxLockBytes) throw unusable(path);
    writeSync(file, `\n${JSON.stringify(entry)}\n`);
  } finally {
    closeSync(file);
  }
}

function unusable(path: string): DrawbridgeError {
  const message = `${path} is not a file that Drawbridge has written: end what uses it, and move it away.`;
  return new DrawbridgeError('NOT_CONFIGURED', message);
}

function findHolder(text: string): Claim | undefined {
  const entries = text.split('\n').map(toEntry);
  const released = new Set(entries.map((entry) => Release.safeParse(entry).data?.released));
  return entries
    .map((entry) => Claim.safeParse(entry).data)
    .find((claim) => claim !== undefined && !released.has(claim.id) && isAlive(claim));
}

function toEntry(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Empty, or torn by the death of who wrote it: no claim.
    return undefined;
  }
}

function isAlive({ pid, started }: Claim): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return startOf(pid) === started;
}

/** When a process started, in the kernel's ticks (proc_pid_stat(5), field 22); the name before may hold spaces. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return afterName[START_AFTER_NAME] ?? '';
  } catch {
    // No Linux, or the process is gone.
    return '';
  }
}

const START_AFTER_NAME = 19;
