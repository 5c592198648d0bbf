/** A reader that leaves and comes back by its plan, folds what it sees, and notices what no reader may ever see. */
import { createParser } from 'eventsource-parser';
import type { ChatResponse, ConversationView } from '../../../../shared/documents.ts';
import { isDelta, type StreamEvent, type TapeEvent, widthOf } from '../../../../shared/events.ts';
import { answerOf, foldConversation, foldEvent, newResponse } from '../../../../shared/fold.ts';
import { parseNamedEvent } from '../../../../shared/sse.ts';
import type { PlannedFollower } from './plan.ts';

export interface Watching {
  /** A connection after the cursor. */
  open(cursor: number): Promise<Response>;
  /** Called for each event, before the next one is read. */
  seen(event: StreamEvent, responseId: string): void;
  /** How many `done` there are to see. */
  readonly ends: number;
}

export class Follower {
  readonly #plan: PlannedFollower;
  readonly #watching: Watching;
  /** A conversation, also where only one response of it is followed. */
  readonly #view: ConversationView = {
    ...{ id: '', title: '', archived: false, created: '', bridgeId: null },
    ...{ messages: [], responses: [] },
  };
  /** Content of each document when it was shown whole, by response and document. */
  readonly whole = new Map<string, string>();
  readonly problems: string[] = [];
  #cursor = 0;
  #left = 0;
  #sinceReturn = 0;
  /** Responses whose end was seen, and those of them that had a `done`: a snapshot can be of one that has ended. */
  readonly #ended = new Set<string>();
  readonly #done = new Set<string>();

  constructor(plan: PlannedFollower, watching: Watching) {
    this.#plan = plan;
    this.#watching = watching;
  }

  get responses(): ChatResponse[] {
    return this.#view.responses.map(answerOf);
  }

  /** Until everything has ended; a stream that ends before is taken up again where it was left. */
  async follow(first?: Response): Promise<void> {
    let response = first ?? (await this.#watching.open(this.#cursor));
    for (;;) {
      if (response.status === 200) await this.#read(response);
      else await this.#refused(response);
      if (this.#ended.size >= this.#watching.ends || this.problems.length > 0) return;
      response = await this.#watching.open(this.#cursor);
    }
  }

  async #refused(response: Response): Promise<void> {
    const text = await response.text();
    if (response.status < 500) this.problems.push(`${response.status} at ${this.#cursor}: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async #read({ body }: Response): Promise<void> {
    const reader = body?.getReader();
    const decoder = new TextDecoder();
    let isLeaving = false;
    const parser = createParser({
      onEvent: ({ event, id, data }) => {
        const parsed = parseNamedEvent(event ?? '', data);
        if (!parsed) this.problems.push(`not an event: ${event} ${data}`);
        else if (!isLeaving && parsed.type !== 'heartbeat')
          isLeaving = this.#take(parsed, Number(id));
      },
    });
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (value) parser.feed(decoder.decode(value, { stream: true }));
      if (done || isLeaving || this.#ended.size >= this.#watching.ends) break;
    }
    await reader?.cancel();
  }

  /** Returns whether the reader leaves now. */
  #take(event: StreamEvent, position: number): boolean {
    const leave = this.#plan.leaves[this.#left];
    const isTime = leave !== undefined && ++this.#sinceReturn > leave.afterEvents;
    const kept = isTime && leave.cut ? cutDelta(event) : event;
    const behind = isDelta(kept) && isDelta(event) ? event.delta.length - kept.delta.length : 0;
    this.#checkPosition(event, position);
    this.#cursor = position - behind;
    this.#fold(kept);
    if (!isTime) return false;
    this.#left++;
    this.#sinceReturn = 0;
    return true;
  }

  #checkPosition(event: StreamEvent, position: number): void {
    const { type } = event;
    if (type === 'heartbeat') return;
    // A snapshot goes back to what is stored, and the `done` that comes with it stands where it does.
    if (type === 'snapshot') return;
    const width = type === 'done' ? 0 : widthOf(event satisfies TapeEvent);
    if (position - width < this.#cursor) {
      this.problems.push(`${type} at ${position} after the cursor ${this.#cursor}`);
    }
  }

  #fold(event: StreamEvent): void {
    if (event.type === 'snapshot') this.#takeSnapshot(event.snapshot);
    if (event.type === 'response_start') this.#view.responses.push(newResponse(event.response));
    else if (event.type !== 'snapshot') this.#foldIntoCurrent(event);
    if (event.type === 'done') {
      if (this.#done.has(event.responseId)) this.problems.push('a second done');
      this.#done.add(event.responseId);
      this.#ended.add(event.responseId);
    }
    this.#watching.seen(event, this.#view.responses.at(-1)?.id ?? '');
  }

  #takeSnapshot(snapshot: Extract<StreamEvent, { type: 'snapshot' }>['snapshot']): void {
    if (snapshot.scope === 'conversation') Object.assign(this.#view, snapshot.conversation);
    else this.#view.responses = [snapshot.response];
    for (const { id, status } of this.#view.responses) if (isOver(status)) this.#ended.add(id);
  }

  #foldIntoCurrent(event: StreamEvent): void {
    const response = this.#view.responses.at(-1);
    if (this.#plan.follows === 'conversation') foldConversation(this.#view, event);
    else if (response) foldEvent(response, event);
    if (event.type !== 'document_end' || !response) return;
    const document = response.documents.find(({ id }) => id === event.documentId);
    if (!document) return;
    const key = `${response.id} ${document.id}`;
    if (document.metadata['interrupted'] === true) this.whole.delete(key);
    else if (event.finalContent !== undefined) {
      const shown = this.whole.get(key);
      if (shown !== undefined) this.problems.push(`${key} ended twice`);
      this.whole.set(key, event.finalContent);
    }
  }
}

function isOver(status: ChatResponse['status']): boolean {
  return status === 'completed' || status === 'error' || status === 'cancelled';
}

/** The first half of a delta, never half a character; anything else as it is. */
function cutDelta(event: StreamEvent): StreamEvent {
  if (!isDelta(event) || event.delta.length < 2) return event;
  const half = Math.floor(event.delta.length / 2);
  const end = /[\uD800-\uDBFF]/.test(event.delta[half - 1] ?? '') ? half + 1 : half;
  return { ...event, delta: event.delta.slice(0, end) };
}
