/**
 * Remembers on disk which calls were asked about and started, and their results. So no call runs twice, no result is
 * lost, and an approval counts only for the one question that it answers.
 */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { takeLock } from '../../machine/lock.ts';
import { makePrivateFolders, restoreMarkOf } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import type { AnswerEntry } from '../../packages/host/index.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import type { CallBook, CallState, StartEntry } from '../admission/book.ts';
import { type HeldCall, type JournalEntry, replay } from './journal-entries.ts';
import { JournalFile } from './journal-file.ts';

/**
 * The journal of one bridge: a file of JSON lines that only grows at its end. Every method is synchronous. When it
 * returns, the entry holds, and is on disk where a side effect depends on it. Where that fails, it throws
 * `JournalUnwritable`.
 *
 * Used nonces are not listed. A nonce is random and stands in one `asked` line, whose question takes one answer. When a
 * server sends a call again that the journal has forgotten, the call is new: it gets a new nonce, which no old
 * signature covers.
 */
export class Journal implements CallBook, Disposable {
  readonly #bootId: string;
  readonly #lock: Disposable;
  readonly #file: JournalFile;
  /** Exists from a restore of the journal until the tunnel knows of it. */
  readonly #restoreMark: string;
  #wasRestored: boolean;

  /**
   * Opens a journal, or makes one. Throws when a living bridge has it open, when it cannot be written, or when it is
   * damaged anywhere but in its last line, which a crash may have cut. `bootId` is new with every start of the process.
   */
  static open(path: string, bootId: string): Journal {
    try {
      const held = lock(path);
      try {
        const file = JournalFile.open(path, replay(readIfAny(path), path));
        return new Journal({ bootId, path, file, held });
      } catch (error) {
        held[Symbol.dispose]();
        throw error;
      }
    } catch (error) {
      throw toOpenError(error, path);
    }
  }

  private constructor({ bootId, path, file, held }: OpenedJournal) {
    this.#bootId = bootId;
    this.#file = file;
    this.#lock = held;
    this.#restoreMark = restoreMarkOf(path);
    this.#wasRestored = existsSync(this.#restoreMark);
  }

  /** Whether the journal comes from a backup: calls that it does not know may have run since. */
  get wasRestored(): boolean {
    return this.#wasRestored;
  }

  /** The tunnel has cancelled what was open at the restore. */
  settleRestore(): void {
    if (!this.#wasRestored) return;
    this.#wasRestored = false;
    rmSync(this.#restoreMark, { force: true });
  }

  /** The ids of all calls in the journal. None of them was acked. */
  get calls(): string[] {
    return [...this.#file.calls.keys()];
  }

  lookup(callId: string): CallState {
    const { started, asked, finished } = this.#held(callId);
    if (finished !== undefined) return { state: 'finished', result: finished.result };
    if (started === undefined) return { state: 'unknown' };
    const { repeatable, change } = started;
    if (started.bootId === this.#bootId) return { state: 'running', change };
    // A change is asked about again only after the file's bytes showed that it was not made.
    if (change !== undefined && asked !== undefined) return { state: 'unknown' };
    return { state: 'interrupted', repeatable, change };
  }

  ask(
    callId: string,
    proposalDigest: string,
    beforeHash?: string | null,
  ): { nonce: string; answer?: AnswerEntry } {
    const { asked, answered } = this.#held(callId);
    if (asked?.proposalDigest === proposalDigest) {
      return { nonce: asked.nonce, ...(answered && { answer: toAnswer(answered) }) };
    }
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const entry: JournalEntry = { type: 'asked', callId, nonce, proposalDigest };
    this.#file.append(beforeHash === undefined ? entry : { ...entry, beforeHash }, DURABLE);
    return { nonce };
  }

  askedNonce(callId: string): string | undefined {
    return this.#held(callId).asked?.nonce;
  }

  seenHash(callId: string): string | undefined {
    const { asked, started } = this.#held(callId);
    return asked?.beforeHash ?? started?.change?.beforeHash ?? undefined;
  }

  answer(callId: string, nonce: string, answer: AnswerEntry): void {
    const { asked, answered } = this.#held(callId);
    if (asked?.nonce !== nonce || answered !== undefined) {
      throw new Error(`Call ${callId} has no question that waits with this nonce.`);
    }
    this.#file.append({ type: 'answered', callId, nonce, ...answer }, DURABLE);
  }

  /**
   * Uses up the call's approval. Throws for a running or finished call, which is a bug. Throws also for an interrupted
   * one, unless it may run twice or is a change to a file, whose bytes show that it was not made. A call that may run
   * twice and was not asked about starts even where the disk takes nothing.
   */
  start({ callId, tool, effect, idempotent, change }: StartEntry): void {
    const known = this.lookup(callId);
    const isFresh =
      known.state === 'unknown' ||
      (known.state === 'interrupted' && (known.repeatable || known.change !== undefined));
    if (!isFresh)
      throw new Error(`Call ${callId} is ${known.state} and must not be started again.`);
    const repeatable = effect === 'read' || idempotent;
    const begun = { type: 'started', callId, bootId: this.#bootId, tool, repeatable } as const;
    const started: JournalEntry = change === undefined ? begun : { ...begun, change };
    if (!repeatable || this.#held(callId).asked) this.#file.append(started, DURABLE);
    else this.#file.note(started, { isDurable: false });
  }

  /**
   * The caller calls this before it sends a result. The first result stays. A call that never started may have one too.
   * Where the disk takes nothing, this process still holds the result: it can be sent, and no second run is needed.
   */
  finish(callId: string, result: ToolResult): void {
    const { started, finished } = this.#held(callId);
    if (finished !== undefined) return;
    const isDurable = started?.repeatable !== true;
    this.#file.note({ type: 'finished', callId, result }, { isDurable });
  }

  /**
   * Forgets an acked call: its result is stored elsewhere. An unknown call needs nothing. Where the disk takes nothing,
   * the next process offers the result again, and gets another ack. Of a private call, nothing stays in the file.
   */
  forget(callId: string, isPrivate = false): void {
    if (!this.#file.calls.has(callId)) return;
    this.#file.note({ type: 'forgotten', callId }, { isDurable: false });
    this.#file.compact(isPrivate);
  }

  /** Lets another process open the journal. May be called twice. */
  [Symbol.dispose](): void {
    if (this.#file.close()) this.#lock[Symbol.dispose]();
  }

  #held(callId: string): Partial<HeldCall> {
    return this.#file.calls.get(callId) ?? {};
  }
}

interface OpenedJournal {
  readonly bootId: string;
  readonly path: string;
  readonly file: JournalFile;
  readonly held: Disposable;
}

const DURABLE = { isDurable: true } as const;

/** 144 random bits, so that no nonce repeats. */
const NONCE_BYTES = 18;

function toAnswer(entry: NonNullable<HeldCall['answered']>): AnswerEntry {
  const { decision, by, message, content, scope, pattern } = entry;
  const said = message === undefined ? {} : { message };
  const reach = scope === undefined ? {} : { scope, pattern };
  return { decision, by, ...said, ...reach, ...(content !== undefined && { content }) };
}

/** Locks the journal before it is read, because the last holder may write until it releases the lock. */
function lock(path: string): Disposable {
  makePrivateFolders(dirname(path));
  const taken = takeLock(`${path}.lock`);
  if (taken.isTaken) return taken;
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `Another bridge, process ${taken.holder}, has ${path} open: end it, or give this one a state folder of its own.`,
  );
}

/** Never waits: a pipe in the journal's place would have no writer. */
function readIfAny(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
  try {
    if (fstatSync(file).isFile()) return readFileSync(file);
    throw Object.assign(new Error('it is not a regular file'), { syscall: 'read' });
  } finally {
    closeSync(file);
  }
}

/** Turns an error of the disk into a sentence. Other errors stay as they are. */
function toOpenError(error: unknown, path: string): unknown {
  const isOfDisk = error instanceof Error && 'syscall' in error;
  if (!isOfDisk) return error;
  return new DrawbridgeError(
    'NOT_CONFIGURED',
    `The bridge cannot keep its journal ${path} (${error.message}), and starts nothing without it: see that its disk has room and can be written.`,
    { cause: error },
  );
}
