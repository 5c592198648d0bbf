/** Reads the tape for a returning follower: the events that it missed, or a snapshot when a crash took those back. */

import { DrawbridgeError } from '../../../shared/errors.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { responseOf } from '../../../shared/wire/events.ts';
import { answerOf } from '../../../shared/wire/fold.ts';
import type { ResponseUsage } from '../../ports/account.ts';
import type { RunLog } from '../log/run-log.ts';
import type { ConversationRow, Run } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { Following, Outgoing } from '../tape/followers.ts';
import { type Damage, repaired } from '../tape/repaired.ts';
import { ResponseFold } from '../tape/response-fold.ts';
import type { EventOnTape, Tape } from '../tape/tape.ts';
import { Views } from './views.ts';

/** Never writes. Computes everything from the tape and the runs, in one synchronous step. */
export class TapeReader {
  readonly views: Views;
  readonly #conversation: { readonly row: ConversationRow };
  readonly #tape: Tape;
  readonly #runs: RunStore;

  /** Reads `conversation.row` each time, because a person can change it. */
  constructor(
    conversation: { readonly row: ConversationRow },
    tape: Tape,
    log: RunLog,
    runs: RunStore,
  ) {
    this.#conversation = conversation;
    this.#tape = tape;
    this.#runs = runs;
    this.views = new Views(conversation, { tape, log });
  }

  /** The events that a follower missed since `cursor`, to be sent before live events. Throws INVALID_CURSOR. */
  past(following: Following, run: Run | null, cursor: number): Outgoing[] {
    switch (this.#tape.classify(cursor)) {
      case 'exact':
        if (!run && this.#isFarBehind(cursor)) return this.#snapshot(run);
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

  response(run: Run): ChatResponse {
    if (run.started === null) return this.#unstarted(run);
    const fold = new ResponseFold();
    const to = run.last ?? undefined;
    for (const { event } of this.#repaired([run], run.started, to)) fold.see(event);
    const hasPlan = fold.response?.documents.some(({ type }) => type === 'plan');
    // A person can change a plan after its response has finished.
    if (hasPlan && to !== undefined)
      for (const event of this.#tape.planUpdates(to)) fold.see(event);
    return answerOf(fold.response ?? this.#unstarted(run));
  }

  /** The newest response that has started; null before the first one. */
  newestBegun(): ChatResponse | null {
    for (const run of this.#runs.runsBack()) if (run.started !== null) return this.response(run);
    return null;
  }

  /** The newest first. */
  usages(): ResponseUsage[] {
    return Array.from(this.#runs.runsBack(), ({ ordinal, last }) => {
      const [end] = last === null ? [] : this.#tape.read(last - 1);
      const usage = end?.event.type === 'done' ? end.event.usage : null;
      return { responseId: responseIdOf(this.#conversation.row.id, ordinal), usage };
    });
  }

  /** When the conversation was last answered, or else created, in epoch milliseconds. */
  answeredMs(): number {
    for (const { last, started, request } of this.#runs.runsBack()) {
      if (last === null) continue;
      const [start] = started === null ? [] : this.#tape.read(started);
      const [end] = this.#tape.read(last - 1);
      if (start?.event.type !== 'response_start' || end?.event.type !== 'done') {
        return request.createdMs; // The run was cancelled while it waited.
      }
      return Date.parse(start.event.response.created) + end.event.metadata.duration_ms;
    }
    return Date.parse(this.#conversation.row.created);
  }

  /** Whether a follower missed so much that a snapshot is quicker and more useful than the events. */
  #isFarBehind(cursor: number): boolean {
    const { maxReplayBytes } = CONVERSATION_LIMITS;
    return this.#tape.bytesBetween(cursor, this.#tape.head, maxReplayBytes) > maxReplayBytes;
  }

  #missed(following: Following, run: Run | null, cursor: number): Outgoing[] {
    const [from, to] = run ? extentOf(run, cursor) : [this.#startedBefore(cursor), undefined];
    const fold = new ResponseFold();
    const missed: Outgoing[] = [];
    const runs = run ? [run] : () => this.#startedFrom(from);
    for (const { event, start, end } of this.#repaired(runs, from, to)) {
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

  #repaired(runs: Damage['runs'], from: number, to: number | undefined): Generator<EventOnTape> {
    const { id: conversationId } = this.#conversation.row;
    return repaired(this.#tape.entries(from, to), { conversationId, runs, to });
  }

  /** The runs that started at or after this position, and the last run that started before it. */
  #startedFrom(position: number): Run[] {
    const runs: Run[] = [];
    for (const run of this.#runs.runsBack()) {
      if (run.started === null) continue;
      runs.unshift(run);
      if (run.started <= position) break;
    }
    return runs;
  }

  #snapshot(run: Run | null): Outgoing[] {
    const position = this.#tape.head;
    if (!run) {
      const conversation = this.views.newest();
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

  /** The position from which reading sees the start of every document that is open at `position`. */
  #startedBefore(position: number): number {
    return Math.min(this.#runs.readStartBefore(position) ?? 0, position);
  }

  #unstarted(run: Run): ChatResponse {
    const { model, mode, wantedMode, createdMs } = run.request;
    const { id: conversationId } = this.#conversation.row;
    return {
      id: responseIdOf(conversationId, run.ordinal),
      conversationId,
      model,
      mode,
      ...(wantedMode && { ownMode: wantedMode.name }),
      created: new Date(createdMs).toISOString(),
      status: run.status === 'cancelled' ? 'cancelled' : 'queued',
      documents: [],
      usage: null,
      metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
    };
  }
}

/** The part of the tape to read for a follower of one response, from its message on until the cursor is past it. */
function extentOf({ first, started, last }: Run, cursor: number): [number, number | undefined] {
  return [started !== null && started <= cursor ? started : first, last ?? undefined];
}
