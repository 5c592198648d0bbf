/** Where everything that happens goes: onto the tape, into the fold of the response at work, out to the followers. */
import type { ChatResponse } from '../../../shared/documents.ts';
import { responseOf, type TapeEvent } from '../../../shared/events.ts';
import type { Followers } from './followers.ts';
import { TAPE_LIMITS } from './limits.ts';
import { mended, type Placed } from './mended.ts';
import { ResponseFold } from './response-fold.ts';
import type { EndStatus } from './run-events.ts';
import type { Positioned, Tape } from './tape.ts';

/** The run at work, as its row has it. */
export interface Resumed {
  /** The position of its `response_start`. */
  readonly at: number;
  readonly run: Placed;
  readonly conversationId: string;
}

/** Owns the fold of the run at work, and the timer that bounds how long a shown delta stays uncommitted. */
export class Recorder {
  readonly #tape: Tape;
  readonly #followers: Followers;
  readonly #fold = new ResponseFold();
  /** Something of the response that was at work when this instance began is missing on the tape. */
  readonly isDamaged: boolean;
  #commitTimer: ReturnType<typeof setTimeout> | undefined;

  /** `resume` is where the running response stands, for an instance that finds one. */
  constructor(tape: Tape, followers: Followers, resume: Resumed | null) {
    this.#tape = tape;
    this.#followers = followers;
    this.isDamaged = resume !== null && this.#resume(resume);
  }

  /** Returns whether something is missing. */
  #resume({ at, run, conversationId }: Resumed): boolean {
    let isDamaged = false;
    const onMissing = () => {
      isDamaged = true;
    };
    const damage = { conversationId, runs: [run], onMissing };
    for (const { event } of mended(this.#tape.entries(at), damage)) this.#fold.see(event);
    return isDamaged || this.endedAs !== null;
  }

  /** How the response at work, or the last one that was, has ended by the tape; null while it has not. */
  get endedAs(): EndStatus | null {
    const status = this.#fold.response?.status;
    return status === 'completed' || status === 'error' || status === 'cancelled' ? status : null;
  }

  /** The response at work, or the last one that was. Owned here: copy it before it leaves. */
  get response(): ChatResponse | null {
    return this.#fold.response;
  }

  get openDocuments(): ReadonlySet<string> {
    return this.#fold.openDocuments;
  }

  /** The sequence of the next document of the response at work. */
  get nextSequence(): number {
    return (this.#fold.response?.documents.at(-1)?.sequence ?? 0) + 1;
  }

  /** Commits the events, and whatever streamed before them, then sends them. Synchronous: store what belongs together around it. */
  record(events: readonly TapeEvent[]): void {
    if (events.length === 0) return this.commit();
    this.#take(this.#tape.append(events, 'now'));
    this.#clearTimer();
    this.#followers.flush();
  }

  /**
   * Sends what the model or a command is writing. It is committed with what follows, at TAPE_LIMITS.commitChars, or
   * after TAPE_LIMITS.commitMs; until then a crash takes it back. The start of a document is committed at once, so that
   * its id never comes to mean another one.
   */
  stream(events: readonly TapeEvent[]): void {
    if (events.length === 0) return;
    const starts = events.some(({ type }) => type === 'document_start');
    this.#take(this.#tape.append(events, starts ? 'now' : 'grouped'));
    if (this.#tape.hasPending) {
      this.#commitTimer ??= setTimeout(() => this.commit(), TAPE_LIMITS.commitMs);
    } else this.#clearTimer();
  }

  /** Writes what was streamed and not committed yet. */
  commit(): void {
    this.#clearTimer();
    this.#tape.commit();
  }

  /** Nothing waits: a timer would only keep the object awake. */
  #clearTimer(): void {
    clearTimeout(this.#commitTimer);
    this.#commitTimer = undefined;
  }

  #take(positioned: readonly Positioned[]): void {
    this.#followers.send(
      positioned.map(({ event, end }) => {
        const sent = this.#fold.see(event);
        return {
          event: sent,
          position: end,
          responseId: responseOf(event, this.#fold.response?.id ?? null),
        };
      }),
    );
  }
}
