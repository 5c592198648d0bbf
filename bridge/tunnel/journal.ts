/** Remembers on disk which calls were started and what they came to, so that none runs twice and none is lost. */
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { DrawbridgeError } from '../../shared/errors.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { isSystemError } from '../sandbox/failure.ts';
import { PRIVATE_FILE, replaceStateFile } from '../state-file.ts';
import { type Entry, entriesOf, type Held, replay, toLine } from './journal-entries.ts';
import { takeProcessLock } from './process-lock.ts';

/** What is known of a call. */
export type CallState =
  | { readonly state: 'unknown' }
  /** Started by this process, and not finished. */
  | { readonly state: 'running' }
  | { readonly state: 'finished'; readonly result: ToolResult }
  /** Started by an earlier process, which ended in the middle. Only what is `repeatable` may be started again. */
  | { readonly state: 'interrupted'; readonly repeatable: boolean };

/**
 * The journal of one bridge: a file of JSON lines to which is appended. Every method is synchronous: what it says is
 * true when it returns, and on disk where a side effect depends on it. A method that cannot write throws.
 */
export class Journal implements Disposable {
  readonly #path: string;
  readonly #bootId: string;
  readonly #release: () => void;
  readonly #calls: Map<string, Held>;
  #file: number;
  #bytes = 0;
  /** Size after the last rewriting. */
  #liveBytes = 0;

  /**
   * Opens a journal, or makes one. Throws when a living bridge has it open, or when it is damaged anywhere but in its
   * last line, which a crash may have torn. `bootId` is new with every start of the process.
   */
  static open(path: string, bootId: string): Journal {
    const { text, release } = readLocked(path);
    try {
      return new Journal(path, bootId, { calls: replay(text, path), release });
    } catch (error) {
      release();
      throw error;
    }
  }

  private constructor(
    path: string,
    bootId: string,
    { calls, release }: { calls: Map<string, Held>; release: () => void },
  ) {
    this.#path = path;
    this.#bootId = bootId;
    this.#calls = calls;
    this.#release = release;
    this.#file = this.#rewrite();
  }

  /** The ids of all calls it holds: those that were not acked. */
  get calls(): string[] {
    return [...this.#calls.keys()];
  }

  lookup(callId: string): CallState {
    const { started, finished } = this.#calls.get(callId) ?? {};
    if (finished !== undefined) return { state: 'finished', result: finished.result };
    if (started === undefined) return { state: 'unknown' };
    if (started.bootId === this.#bootId) return { state: 'running' };
    return { state: 'interrupted', repeatable: started.repeatable };
  }

  /**
   * To be called before a tool starts; when it throws, the tool must not. Starting what is running, finished or
   * interrupted and not repeatable is a bug, and throws.
   */
  start({
    callId,
    tool,
    effect,
    idempotent,
  }: { callId: string; tool: string } & Pick<ToolDefinition, 'effect' | 'idempotent'>): void {
    const known = this.lookup(callId);
    const isFresh =
      known.state === 'unknown' || (known.state === 'interrupted' && known.repeatable);
    if (!isFresh)
      throw new Error(`Call ${callId} is ${known.state} and must not be started again.`);
    const repeatable = effect === 'read' || idempotent;
    const started = { type: 'started', callId, bootId: this.#bootId, tool, repeatable } as const;
    this.#append(started, { isDurable: !repeatable });
    this.#calls.set(callId, { started });
  }

  /** To be called before a result is sent. The first result stays; a call that never started may have one too. */
  finish(callId: string, result: ToolResult): void {
    const { started, finished: earlier } = this.#calls.get(callId) ?? {};
    if (earlier !== undefined) return;
    const finished = { type: 'finished', callId, result } as const;
    // In memory even if the disk is full: the result can still be sent, and must not be asked for by a second run.
    this.#calls.set(callId, { ...(started && { started }), finished });
    this.#append(finished, { isDurable: started?.repeatable !== true });
  }

  /** The call was acked: its result is kept elsewhere. What it does not hold it forgets at once. */
  forget(callId: string): void {
    if (!this.#calls.delete(callId)) return;
    this.#append({ type: 'forgotten', callId }, { isDurable: false });
    if (this.#isMostlyForgotten()) this.#compact();
  }

  /** Lets another process open it. May be called twice. */
  [Symbol.dispose](): void {
    if (this.#file === CLOSED) return;
    closeSync(this.#file);
    this.#file = CLOSED;
    this.#release();
  }

  #append(entry: Entry, { isDurable }: { isDurable: boolean }): void {
    const line = toLine(entry);
    try {
      appendFileSync(this.#file, line);
      if (isDurable) fdatasyncSync(this.#file);
    } catch (error) {
      // A part of the line would spoil the next one.
      ftruncateSync(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += Buffer.byteLength(line);
  }

  #isMostlyForgotten(): boolean {
    const { compactJournalBytes } = COMMAND_LIMITS;
    return this.#bytes > Math.max(compactJournalBytes, 2 * this.#liveBytes);
  }

  #compact(): void {
    const old = this.#file;
    this.#file = this.#rewrite();
    closeSync(old);
  }

  /** Writes what is held as a new file in the place of the old one, and opens it. */
  #rewrite(): number {
    const text = [...this.#calls.values()].flatMap(entriesOf).map(toLine).join('');
    replaceStateFile(this.#path, text);
    this.#bytes = Buffer.byteLength(text);
    this.#liveBytes = this.#bytes;
    return openSync(this.#path, 'a', PRIVATE_FILE);
  }
}

const CLOSED = -1;

/** Locks it first: what the last holder wrote until it let go must be read too. */
function readLocked(path: string): { text: string; release: () => void } {
  const lock = takeProcessLock(`${path}.lock`);
  if (lock.ok) return { text: readIfAny(path), release: lock.release };
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `Another bridge, process ${lock.holder}, has ${path} open: end it, or give this one a state folder of its own.`,
  );
}

function readIfAny(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  }
}
