/** A reader that leaves and comes back by its plan, folds what it sees, and notices what no reader may ever see. */
import type { ChatResponse, ConversationView } from '../../../../shared/wire/documents.ts';
import {
  type DeltaEvent,
  isDelta,
  type StreamEvent,
  type TapeEvent,
  widthOf,
} from '../../../../shared/wire/events.ts';
import {
  answerOf,
  foldConversation,
  foldEvent,
  newResponse,
} from '../../../../shared/wire/fold.ts';
import { leaveUnread, readConnection } from './connection.ts';
import { EndedDocuments } from './ended-documents.ts';
import type { PlannedFollower, PlannedLeave } from './plan.ts';

export interface Watching {
  /** A connection after the cursor. */
  open(cursor: number): Promise<Response>;
  /** Called for each event, before the next one is read. */
  seen(event: StreamEvent, responseId: string): void;
  /** The reader went away in the middle of a delta. */
  cut(): void;
  /** Whether there is nothing more to wait for, where these have finished; a snapshot shows none that never started. */
  isOver(ended: ReadonlySet<string>, hadSnapshot: boolean): boolean;
  /** Aborts when what {@link isOver} says may have changed. */
  readonly closing: AbortSignal;
}

/** Where a reader stands in the middle of a delta, and what of it has to come next. */
interface Rest {
  readonly documentId: string;
  readonly text: string;
}

export class Follower {
  readonly plan: PlannedFollower;
  readonly #watching: Watching;
  /** A conversation, also where only one response of it is followed. */
  readonly #view: ConversationView = {
    id: '',
    title: '',
    archived: false,
    created: '',
    bridgeId: null,
    messages: [],
    responses: [],
    earlier: null,
    position: 0,
  };
  readonly documents = new EndedDocuments();
  readonly #problems: string[] = [];
  #cursor = 0;
  #left = 0;
  #sinceReturn = 0;
  #rest: Rest | null = null;
  #hadSnapshot = false;
  /** Responses whose end was seen, and those of them that had a `done`: a snapshot can be of one that has finished. */
  readonly #ended = new Set<string>();
  readonly #done = new Set<string>();

  constructor(plan: PlannedFollower, watching: Watching) {
    this.plan = plan;
    this.#watching = watching;
  }

  get messages(): ConversationView['messages'] {
    return this.#view.messages;
  }

  get responses(): ChatResponse[] {
    return this.#view.responses.map(answerOf);
  }

  get problems(): readonly string[] {
    return [...this.#problems, ...this.documents.problems];
  }

  /** Until everything has finished; a stream that ends before is taken up again where it was left. */
  async follow(first?: Response): Promise<void> {
    let response = first ?? (await this.#watching.open(this.#cursor));
    for (;;) {
      // While it was opened, what it waited for may have become what it had seen.
      if (this.#isOver) return await leaveUnread(response);
      if (response.webSocket || response.status === 200) await this.#read(response);
      else await this.#refused(response);
      if (this.#isOver || this.problems.length > 0) return;
      response = await this.#watching.open(this.#cursor);
    }
  }

  get #isOver(): boolean {
    return this.#watching.isOver(this.#ended, this.#hadSnapshot);
  }

  async #read(response: Response): Promise<void> {
    const take = (event: StreamEvent, position: number) => this.#take(event, position);
    const { closing } = this.#watching;
    try {
      await readConnection(response, { take, acksEach: this.plan.acksEach, closing });
    } catch (error) {
      this.#problems.push(`at ${this.#cursor}: ${String(error)}`);
    }
  }

  async #refused(response: Response): Promise<void> {
    const text = await response.text();
    if (response.status < 500)
      this.#problems.push(`${response.status} at ${this.#cursor}: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Returns whether the reader leaves now. */
  #take(event: StreamEvent, position: number): boolean {
    this.#checkRest(event);
    const leave = this.plan.leaves[this.#left];
    const isTime = leave !== undefined && ++this.#sinceReturn > leave.afterEvents;
    const kept = isTime ? this.#keepOf(event, leave) : event;
    const behind = isDelta(kept) && isDelta(event) ? event.delta.length - kept.delta.length : 0;
    this.#checkPosition(event, position);
    this.#cursor = position - behind;
    this.#fold(kept);
    if (isTime) {
      this.#left++;
      this.#sinceReturn = 0;
    }
    return isTime || this.#isOver;
  }

  /** What it takes with it of the event that it leaves at. */
  #keepOf(event: StreamEvent, { cut }: PlannedLeave): StreamEvent {
    if (cut === null || !isDelta(event) || event.delta.length < 2) return event;
    const { documentId, delta } = event;
    const end = cutOf(event, cut);
    if (end === delta.length) return event;
    this.#rest = { documentId, text: delta.slice(end) };
    this.#watching.cut();
    return { ...event, delta: delta.slice(0, end) };
  }

  /** Anyone who left inside a delta gets the exact rest of it first, unless a crash took that back. */
  #checkRest(event: StreamEvent): void {
    const rest = this.#rest;
    this.#rest = null;
    if (!rest || event.type === 'snapshot') return;
    const isIt = isDelta(event) && event.documentId === rest.documentId;
    const delta = isIt ? event.delta : '';
    if (delta === '' || !(rest.text.startsWith(delta) || delta.startsWith(rest.text)))
      this.#problems.push(`${JSON.stringify(event)} instead of ${JSON.stringify(rest)}`);
  }

  #checkPosition(event: StreamEvent, position: number): void {
    const { type } = event;
    if (type === 'heartbeat') return;
    // A snapshot goes back to what is stored, and the `done` that comes with it stands where it does.
    if (type === 'snapshot') return;
    const width = type === 'done' ? 0 : widthOf(event satisfies TapeEvent);
    if (position - width < this.#cursor) {
      this.#problems.push(`${type} at ${position} after the cursor ${this.#cursor}`);
    }
  }

  #fold(event: StreamEvent): void {
    if (event.type === 'snapshot') this.#takeSnapshot(event.snapshot);
    if (event.type === 'response_start') this.#begin(newResponse(event.response));
    else if (event.type !== 'snapshot') this.#foldIntoCurrent(event);
    if (event.type === 'done') {
      if (this.#done.has(event.responseId)) this.#problems.push('a second done');
      this.#done.add(event.responseId);
      this.#ended.add(event.responseId);
    }
    this.#watching.seen(event, this.#view.responses.at(-1)?.id ?? '');
  }

  /** A snapshot may have shown it while it waited. */
  #begin(started: ChatResponse): void {
    const others = this.#view.responses.filter(({ id }) => id !== started.id);
    this.#view.responses = [...others, started];
  }

  #takeSnapshot(snapshot: Extract<StreamEvent, { type: 'snapshot' }>['snapshot']): void {
    this.#hadSnapshot = true;
    this.documents.forgetEnds();
    if (snapshot.scope === 'conversation') Object.assign(this.#view, snapshot.conversation);
    else this.#view.responses = [snapshot.response];
    for (const { id, status } of this.#view.responses) if (isOver(status)) this.#ended.add(id);
  }

  #foldIntoCurrent(event: StreamEvent): void {
    const response = this.#view.responses.at(-1);
    if (this.plan.follows === 'conversation') foldConversation(this.#view, event);
    else if (response) foldEvent(response, event);
    if (event.type === 'document_end' && response) this.documents.see(response, event);
  }
}

function isOver(status: ChatResponse['status']): boolean {
  return status === 'completed' || status === 'error' || status === 'cancelled';
}

/** How many units of a delta are kept, at least one, and never half a character. */
function cutOf({ delta }: DeltaEvent, part: number): number {
  const end = 1 + Math.floor(part * (delta.length - 1));
  return /[\uD800-\uDBFF]/.test(delta[end - 1] ?? '') ? end + 1 : end;
}
