/** The journal's file. Lines are appended whole or not at all. From time to time forgotten calls are left out. */
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
} from 'node:fs';
import { currentCall, logEvent } from '../../machine/log.ts';
import type { LogEvent } from '../../machine/log-line.ts';
import { PRIVATE_FILE, replaceFile } from '../../machine/private-files.ts';
import { JournalUnwritable } from '../admission/book.ts';
import {
  entriesOf,
  type HeldCall,
  type JournalEntry,
  type Replayed,
  take,
  toLine,
} from './journal-entries.ts';
import { JOURNAL_LIMITS } from './limits.ts';

interface Durability {
  /** Whether the line must survive a loss of power. */
  readonly isDurable: boolean;
}

/**
 * Holds the file's content in memory. When the disk begins to refuse lines, and when it takes them again, it writes one
 * sentence to this machine's log.
 */
export class JournalFile {
  /** The state after all lines so far, by call id. */
  readonly calls: Map<string, HeldCall>;
  readonly #path: string;
  #file: number = CLOSED;
  #inode = 0;
  #bytes = 0;
  #liveBytes = 0;
  /** Whether a part of a line stands at the file's end and could not be cut off. */
  #isTorn = false;
  /** Length of the shortest line refused since the disk last took one as long; infinite when none is refused. */
  #refusedBytes = Number.POSITIVE_INFINITY;

  /** Appends to the existing file when it is whole and mostly still needed. Otherwise writes a new one. */
  static open(path: string, { calls, isWhole }: Replayed): JournalFile {
    const file = new JournalFile(path, calls);
    if (isWhole && statSync(path, { throwIfNoEntry: false })) file.#open();
    // What is forgotten can be of private calls that were acked while another process ran.
    if (file.#file === CLOSED || file.#bytes > file.#liveBytes) file.#rewrite();
    return file;
  }

  private constructor(path: string, calls: Map<string, HeldCall>) {
    this.#path = path;
    this.calls = calls;
    for (const { bytes } of calls.values()) this.#liveBytes += bytes;
  }

  /** Throws {@link JournalUnwritable}; then nothing has changed. */
  append(entry: JournalEntry, durability: Durability): void {
    const bytes = this.#write(entry, durability);
    this.#take(entry, bytes);
  }

  /** Like `append`, but keeps the entry at least in memory. Only for entries whose lines no side effect depends on. */
  note(entry: JournalEntry, durability: Durability): void {
    try {
      this.append(entry, durability);
    } catch (error) {
      if (!(error instanceof JournalUnwritable)) throw error;
      this.#take(entry, 0);
    }
  }

  /**
   * Leaves out forgotten calls, where that is worth it, or in any case. A journal with much content waits for the next
   * start.
   */
  compact(inAnyCase: boolean): void {
    if (!inAnyCase && !this.#isMostlyForgotten) return;
    if (this.#liveBytes > JOURNAL_LIMITS.maxCompactedBytes) return;
    try {
      this.#rewrite();
    } catch (error) {
      // The old file stays in use. Its forgotten part counts as live, so that not every ack tries again.
      this.#liveBytes = this.#bytes;
      this.#logFailure(error, this.#liveBytes);
    }
  }

  /** False when it was closed before. */
  close(): boolean {
    if (this.#file === CLOSED) return false;
    closeSync(this.#file);
    this.#file = CLOSED;
    return true;
  }

  get #isMostlyForgotten(): boolean {
    return this.#bytes > Math.max(JOURNAL_LIMITS.compactJournalBytes, 2 * this.#liveBytes);
  }

  #take(entry: JournalEntry, bytes: number): void {
    const before = this.calls.get(entry.callId)?.bytes ?? 0;
    take(this.calls, entry, bytes);
    this.#liveBytes += (this.calls.get(entry.callId)?.bytes ?? 0) - before;
  }

  /** Returns the bytes of the written line. */
  #write(entry: JournalEntry, { isDurable }: Durability): number {
    const line = toLine(entry);
    const bytes = Buffer.byteLength(line);
    try {
      if (entry.type !== 'forgotten') this.#refuseBeyondLimit(bytes);
      if (this.#isTorn) this.#cutOff();
      if (isDurable && !this.#isInPlace) this.#restore();
      appendFileSync(this.#file, line);
      if (isDurable) fdatasyncSync(this.#file);
    } catch (error) {
      this.#takeBack();
      throw this.#logFailure(error, bytes);
    }
    this.#bytes += bytes;
    this.#logSuccess(bytes);
    return bytes;
  }

  #refuseBeyondLimit(bytes: number): void {
    const { maxJournalBytes } = JOURNAL_LIMITS;
    if (this.#bytes + bytes <= maxJournalBytes) return;
    throw new Error(`it has grown to ${maxJournalBytes} bytes: end the bridge and start it again`);
  }

  /** Cuts off a part of a line, which would spoil the next one. */
  #takeBack(): void {
    try {
      this.#cutOff();
    } catch {
      this.#isTorn = true; // The next write tries again first.
    }
  }

  #cutOff(): void {
    ftruncateSync(this.#file, this.#bytes);
    this.#isTorn = false;
  }

  /** Whether the file is still at its path. A person or program may have removed it. */
  get #isInPlace(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  #restore(): void {
    if (this.#file === CLOSED) return;
    this.#rewrite();
    log('journal_rewritten', `${this.#path} was gone, and has been written again from memory.`);
  }

  #open(): void {
    const file = openSync(this.#path, 'a', PRIVATE_FILE);
    if (this.#file !== CLOSED) closeSync(this.#file);
    const { size, ino } = fstatSync(file);
    this.#file = file;
    this.#inode = ino;
    this.#bytes = size;
  }

  /** Writes all held calls to a new file in place of the old one, and opens it. */
  #rewrite(): void {
    const texts = [...this.calls].map(([callId, held]) => {
      const text = entriesOf(held).map(toLine).join('');
      this.calls.set(callId, { ...held, bytes: Buffer.byteLength(text) });
      return text;
    });
    replaceFile(this.#path, texts.join(''));
    this.#open();
    this.#liveBytes = this.#bytes;
  }

  #logFailure(error: unknown, bytes: number): JournalUnwritable {
    // The system's message names the file. The model must not read that name in a result.
    const why = (error instanceof Error ? error.message : String(error)).replace(/, \w+ '.*$/s, '');
    const isNews = this.#refusedBytes === Number.POSITIVE_INFINITY;
    if (isNews)
      log('journal_unwritable', `${this.#path} cannot be written (${why}). ${UNTIL_THEN}`);
    this.#refusedBytes = Math.min(this.#refusedBytes, bytes);
    return new JournalUnwritable(why, { cause: error });
  }

  /** A disk that is almost full still takes short lines: only a line as long as a refused one counts as success. */
  #logSuccess(bytes: number): void {
    if (bytes < this.#refusedBytes) return;
    log('journal_writable', `${this.#path} can be written again.`);
    this.#refusedBytes = Number.POSITIVE_INFINITY;
  }
}

/** The current call is the one that met the trouble or its end. */
function log(event: LogEvent, message: string): void {
  logEvent({ event, ...currentCall(), message });
}

const CLOSED = -1;

const UNTIL_THEN =
  'Until it can be written again, calls that change something and those that a person must allow are refused.';
