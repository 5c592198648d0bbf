/** Lets one process at a time use a resource. A living process takes over from one that died. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { parseIfJson } from '../shared/text/json.ts';
import { MIB } from '../shared/units.ts';
import { LocalError } from './local-error.ts';
import { psOf } from './printed.ts';
import { giveToOwner, PRIVATE_FILE } from './private-files.ts';
import { isSystemError } from './system-error.ts';

/** Bytes of a lock's file. Each taking and giving back adds some 250. */
const MAX_LOCK_BYTES = 16 * MIB;

/** The outcome of an attempt: the lock, which ends with its disposal or with this process, or the holder's process. */
export type LockAttempt =
  | ({ readonly isTaken: true } & Disposable)
  | { readonly isTaken: false; readonly holder: number };

/**
 * Takes the lock, or names the process that holds it. The folder around the file must exist.
 *
 * A process that wants the lock appends a claim to the file. The first claim that a living process has not given back
 * holds. Nothing is ever removed, so two processes that take over from a dead one at the same moment cannot both
 * succeed: the system puts their claims in one order for both.
 *
 * @throws {LocalError} when the path holds no lock file of ours. Throws the system's error when the file cannot be
 * written.
 */
export function takeLock(path: string): LockAttempt {
  const id = randomUUID();
  append(path, { id, pid: process.pid, started: startOf(process.pid) });
  const holder = findHolder(read(path));
  if (holder === undefined || holder.id === id) {
    return { isTaken: true, [Symbol.dispose]: () => giveBack(path, id) };
  }
  giveBack(path, id);
  return { isTaken: false, holder: holder.pid };
}

/** Takes the lock once it is given back. @throws {LocalError} `whenBusy` after five seconds; as {@link takeLock}. */
export async function takeTurn(path: string, whenBusy: string): Promise<Disposable> {
  for (let attempt = 1; ; attempt++) {
    const lock = takeLock(path);
    if (lock.isTaken) return lock;
    if (attempt === TURN_ATTEMPTS) throw new LocalError('refused', whenBusy);
    await sleep(TURN_PAUSE_MS);
  }
}

/** A change of a file takes milliseconds. */
const TURN_ATTEMPTS = 100;
const TURN_PAUSE_MS = 50;

/** Whether a living process holds the lock. Changes nothing. @throws {LocalError} as {@link takeLock}. */
export function isLocked(path: string): boolean {
  return holderOf(path) !== undefined;
}

/** The living process that holds the lock. Changes nothing. @throws {LocalError} as {@link takeLock}. */
export function holderOf(path: string): number | undefined {
  return findHolder(read(path))?.pid;
}

function giveBack(path: string, id: string): void {
  try {
    append(path, { released: id });
  } catch {
    // For example the disk is full or the folder is gone. The claim still ends with this process.
  }
}

const LockClaim = z.object({
  id: z.string(),
  pid: z.int().positive(),
  /** Distinguishes the process from a later one with the same number. Empty where the system does not say. */
  started: z.string(),
});
type LockClaim = z.infer<typeof LockClaim>;

const Release = z.object({ released: z.string() });

/** Begins with a line end, so that the entry has its own line even after one that a crash cut short. */
function append(path: string, entry: LockClaim | z.infer<typeof Release>): void {
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  const file = openPlain(path, O_RDWR | O_APPEND | O_CREAT);
  try {
    giveToOwner(file, dirname(path));
    writeSync(file, `\n${JSON.stringify(entry)}\n`);
  } finally {
    closeSync(file);
  }
}

function read(path: string): string {
  let file: number;
  try {
    file = openPlain(path, constants.O_RDONLY);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  }
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Never waits, as it would for a FIFO. */
function openPlain(path: string, flags: number): number {
  let file: number;
  try {
    file = openSync(path, flags | constants.O_NONBLOCK, PRIVATE_FILE);
  } catch (error) {
    if (isSystemError(error, 'EISDIR', 'ENXIO')) throw unusable(path, error);
    throw error;
  }
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size <= MAX_LOCK_BYTES) return file;
  closeSync(file);
  throw unusable(path);
}

function unusable(path: string, cause?: unknown): LocalError {
  const text = `${path} was not written by Drawbridge: stop the program that uses it, and move it away.`;
  return new LocalError('failed', text, { cause });
}

function findHolder(text: string): LockClaim | undefined {
  // A line that its writer's death cut short is no JSON, and no claim.
  const entries = text.split('\n').map((line) => parseIfJson(line));
  const released = new Set(entries.map((entry) => Release.safeParse(entry).data?.released));
  return entries
    .map((entry) => LockClaim.safeParse(entry).data)
    .find((claim) => claim !== undefined && !released.has(claim.id) && isAlive(claim));
}

function isAlive({ pid, started }: LockClaim): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process lives, and belongs to another user.
    if (!isSystemError(error, 'EPERM')) return false;
  }
  try {
    return startOf(pid) === started;
  } catch {
    return true; // The system cannot say it now: then nothing may be taken from the process.
  }
}

/**
 * When a process started, in the system's own format; empty if it is gone, or on a system that does not say it. Throws
 * where the system fails to say it.
 */
function startOf(pid: number): string {
  try {
    if (process.platform !== 'linux') return psOf('lstart', pid);
    // In the kernel's ticks (proc_pid_stat(5), field 22). The name before may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A dead process stays in the table until its parent asks for it, which some containers' first never does.
    return /^[ZX]/.test(afterName[0] ?? '') ? '' : (afterName[START_AFTER_NAME] ?? '');
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ESRCH')) return ''; // The process has gone.
    throw error;
  }
}

const START_AFTER_NAME = 19;
