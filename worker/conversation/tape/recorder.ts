/** Records every event: appends it to the tape, applies it to the current response, and sends it to the followers. */
import type { ChatResponse, Document } from '../../../shared/wire/documents.ts';
import { responseOf, type TapeEvent } from '../../../shared/wire/events.ts';
import { findDocument, isOver } from '../../../shared/wire/fold.ts';
import type { Followers } from './followers.ts';
import { TAPE_LIMITS } from './limits.ts';
import { type PlacedRun, repaired } from './repaired.ts';
import { ResponseFold } from './response-fold.ts';
import type { EndStatus } from './run-events.ts';
import type { EventOnTape, Tape } from './tape.ts';

/** The current run that a new instance found. */
export interface Resumed {
  /** The position of its `response_start`. */
  readonly at: number;
  readonly run: PlacedRun;
  readonly conversationId: string;
}

/** Owns the fold of the current run, and the timer that bounds how long a shown delta stays uncommitted. */
export class Recorder {
  readonly #tape: Tape;
  readonly #followers: Followers;
  readonly #fold = new ResponseFold();
  /** Whether the response that was running when this instance began is damaged on the tape. */
  readonly isDamaged: boolean;
  /** Called after each {@link record}. */
  onRecord: () => void = () => undefined;
  #commitTimer: ReturnType<typeof setTimeout> | undefined;

  /** `resume` is the current run that this instance found, or null. */
  constructor(tape: Tape, followers: Followers, resume: Resumed | null) {
    this.#tape = tape;
    this.#followers = followers;
    this.isDamaged = resume !== null && this.#resume(resume);
  }

  /** Folds the events of the resumed response. Returns whether the response is damaged. */
  #resume({ at, run, conversationId }: Resumed): boolean {
    let isDamaged = false;
    const onMissing = () => {
      isDamaged = true;
    };
    const damage = { conversationId, runs: [run], onMissing };
    for (const { event } of repaired(this.#tape.entries(at), damage)) this.#fold.see(event);
    return isDamaged || this.endedAs !== null;
  }

  /** The end status of the current response, or of the last one, as the tape has it; null while it has not ended. */
  get endedAs(): EndStatus | null {
    const status = this.#fold.response?.status;
    return status !== undefined && isOver(status) ? status : null;
  }

  /** The current response, or the last one. The recorder owns it: copy it before passing it on. */
  get response(): ChatResponse | null {
    return this.#fold.response;
  }

  /** A document of {@link response}. */
  document(id: string): Document | undefined {
    return this.response ? findDocument(this.response, id) : undefined;
  }

  get openDocuments(): ReadonlySet<string> {
    return this.#fold.openDocuments;
  }

  /** The sequence of the next document of the current response. */
  get nextSequence(): number {
    return this.#fold.lastSequence + 1;
  }

  /** Commits the events after the streamed ones, then sends them. Rows that belong to them: in the same step. */
  record(events: readonly TapeEvent[]): void {
    if (events.length === 0) return this.commit();
    this.#take(this.#tape.append(events, 'now'));
    this.#clearTimer();
    this.#followers.flush();
    this.onRecord();
  }

  /**
   * Sends streamed output of the model or a command. It is committed with the next record, at TAPE_LIMITS.commitChars,
   * or after TAPE_LIMITS.commitMs; until then a crash takes it back. The start of a document is committed at once, so
   * that a crash cannot give its id to another document.
   */
  stream(events: readonly TapeEvent[]): void {
    if (events.length === 0) return;
    const starts = events.some(({ type }) => type === 'document_start');
    this.#take(this.#tape.append(events, starts ? 'now' : 'grouped'));
    if (this.#tape.hasPending) {
      this.#commitTimer ??= setTimeout(() => this.commit(), TAPE_LIMITS.commitMs);
    } else this.#clearTimer();
  }

  /** Writes the streamed events that are not committed yet. */
  commit(): void {
    this.#clearTimer();
    this.#tape.commit();
  }

  /** Called when nothing waits: a timer would only keep the object awake. */
  #clearTimer(): void {
    clearTimeout(this.#commitTimer);
    this.#commitTimer = undefined;
  }

  #take(positioned: readonly EventOnTape[]): void {
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
