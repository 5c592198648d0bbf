/** Reading a tape for someone who returns: from which row, what they missed, or a snapshot when that was taken back. */
import type { ChatResponse, ConversationView } from '../../shared/documents.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { responseOf } from '../../shared/events.ts';
import { answerOf, foldConversation } from '../../shared/fold.ts';
import { responseIdOf } from '../../shared/ids.ts';
import type { Following, Outgoing } from './followers.ts';
import { ResponseFold } from './response-fold.ts';
import type { ConversationRow, Run } from './rows.ts';
import type { RunLog } from './run-log.ts';
import type { Tape } from './tape.ts';

/** Reads only; everything is computed from the tape, in one synchronous step. */
export class TapeReader {
  readonly #conversation: { readonly row: ConversationRow };
  readonly #tape: Tape;
  readonly #log: RunLog;

  /** The row is looked up each time: a person can change it. */
  constructor(conversation: { readonly row: ConversationRow }, tape: Tape, log: RunLog) {
    this.#conversation = conversation;
    this.#tape = tape;
    this.#log = log;
  }

  /** What a follower missed since `cursor`, as it is to be sent before anything live. */
  past(following: Following, run: Run | null, cursor: number): Outgoing[] {
    switch (this.#tape.classify(cursor)) {
      case 'exact':
        return this.#missed(following, run, cursor);
      case 'jump':
        return this.#snapshot(run);
      case 'beyond':
        throw new DrawbridgeError(
          'INVALID_CURSOR',
          `after: ${cursor} is beyond the end of this conversation`,
        );
      case 'split':
        throw new DrawbridgeError('INVALID_CURSOR', `after: ${cursor} lies inside a character`);
    }
  }

  /** The response of a run, as documents. */
  response(run: Run): ChatResponse {
    if (run.started === null) return this.#unstarted(run);
    const fold = new ResponseFold();
    for (const { event, start } of this.#tape.read(run.started)) {
      if (run.last !== null && start >= run.last) break;
      fold.see(event);
    }
    return answerOf(fold.response ?? this.#unstarted(run));
  }

  /** The whole conversation. */
  view(): ConversationView {
    const { id, title, archived, created, bridge: bridgeId } = this.#conversation.row;
    const described = { id, title, archived, created, bridgeId };
    const view: ConversationView = { ...described, messages: [], responses: [] };
    for (const { event } of this.#tape.read(0)) foldConversation(view, event);
    return { ...view, title, archived, responses: view.responses.map(answerOf) };
  }

  /** When it was last answered, or made, in epoch milliseconds. */
  answeredMs(): number {
    const run = this.#log.runs.findLast(({ last }) => last !== null);
    if (!run) return Date.parse(this.#conversation.row.created);
    const { created, metadata } = this.response(run);
    return Date.parse(created) + metadata.duration_ms;
  }

  #missed(following: Following, run: Run | null, cursor: number): Outgoing[] {
    const from = run ? run.first : this.#startedBefore(cursor);
    const fold = new ResponseFold();
    const missed: Outgoing[] = [];
    for (const { event, start, end } of this.#tape.read(from)) {
      const cut = start < cursor && cursor < end && 'delta' in event;
      const sent = fold.see(event);
      const responseId = responseOf(event, fold.response?.id ?? null);
      if (end <= cursor) continue;
      if (following.responseId !== null && responseId !== following.responseId) continue;
      const rest = cut ? { ...event, delta: event.delta.slice(cursor - start) } : sent;
      missed.push({ event: rest, position: end, responseId });
    }
    return missed;
  }

  #snapshot(run: Run | null): Outgoing[] {
    const position = this.#tape.head;
    if (!run) {
      const conversation = this.view();
      const event = {
        type: 'snapshot',
        snapshot: { scope: 'conversation', conversation },
      } as const;
      return [{ event, position, responseId: null }];
    }
    const response = this.response(run);
    const { id: responseId, status, usage, metadata } = response;
    const event = { type: 'snapshot', snapshot: { scope: 'response', response } } as const;
    const done = { type: 'done', responseId, status, usage, metadata } as const;
    return [
      { event, position, responseId },
      ...(run.last === null ? [] : [{ event: done, position, responseId }]),
    ];
  }

  /** Where to begin so that every document open at `position` is seen from its start. */
  #startedBefore(position: number): number {
    const run = this.#log.runs.findLast(({ started }) => started !== null && started <= position);
    return Math.min(run?.started ?? 0, position);
  }

  #unstarted(run: Run): ChatResponse {
    const { model, mode, createdMs } = run.request;
    const { id: conversationId } = this.#conversation.row;
    return {
      id: responseIdOf(conversationId, run.ordinal),
      conversationId,
      model,
      mode,
      created: new Date(createdMs).toISOString(),
      status: run.status === 'cancelled' ? 'cancelled' : 'queued',
      documents: [],
      usage: null,
      metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
    };
  }
}
