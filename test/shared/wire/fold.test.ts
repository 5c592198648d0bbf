import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChatResponse, ConversationView } from '../../../shared/wire/documents.ts';
import type { StreamEvent } from '../../../shared/wire/events.ts';
import { answerOf, foldConversation, foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import { fewOf } from '../../depth.ts';

const RESPONSE = {
  id: 'chat_00000000-0000-4000-8000-000000000001',
  conversationId: 'conv_00000000-0000-4000-8000-000000000000',
  model: 'demo',
  mode: 'agent' as const,
  created: '2026-11-20T12:00:00Z',
};
const EMPTY: ConversationView = {
  id: RESPONSE.conversationId,
  title: 'A',
  created: RESPONSE.created,
  archived: false,
  bridgeId: null,
  messages: [],
  responses: [],
  earlier: null,
  position: 0,
} as ConversationView;

const DOCUMENTS = fc.integer({ min: 1, max: 3 });
/** The documents of each attempt at a turn: a crash cuts off all but the last one. */
const TURNS = fc.array(
  fc.record({ cut: fc.array(DOCUMENTS, { maxLength: 4 }), whole: DOCUMENTS }),
  { maxLength: 4 },
);

/** A response whose turns a crash cuts off again and again: what each has said is taken back, and said anew. */
function eventsOf(turns: readonly { cut: readonly number[]; whole: number }[]): StreamEvent[] {
  const events: StreamEvent[] = [{ type: 'response_start', response: RESPONSE }];
  let sequence = 0;
  for (const [turn, { cut, whole }] of turns.entries()) {
    for (const [attempt, count] of [...cut, whole].entries()) {
      const isCut = attempt < cut.length;
      const ids: string[] = [];
      for (let left = count; left > 0; left--) {
        const id = `doc_${String(++sequence).padStart(3, '0')}`;
        ids.push(id);
        events.push({ type: 'document_start', document: { id, type: 'text', sequence } });
        events.push({ type: 'content_delta', documentId: id, delta: `turn ${turn}` });
        const isOpen = isCut && left === 1;
        if (!isOpen) events.push({ type: 'document_end', documentId: id });
      }
      if (!isCut) continue;
      const metadata = { interrupted: true };
      for (const documentId of ids) events.push({ type: 'document_end', documentId, metadata });
      // A second mark changes nothing.
      events.push({ type: 'document_end', documentId: ids[0] ?? '', metadata });
    }
  }
  const metadata = { duration_ms: 1, toolCallCount: 0, turnCount: 4 };
  events.push({
    type: 'done',
    responseId: RESPONSE.id,
    status: 'completed',
    usage: null,
    metadata,
  });
  return events;
}

function foldAll(events: readonly StreamEvent[], into = newResponse(RESPONSE)): ChatResponse {
  for (const event of events) foldEvent(into, event);
  return into;
}

/** Loses the connection at each of the places, and comes back to a snapshot of the present. */
function readWithReturns(
  events: readonly StreamEvent[],
  returns: readonly number[],
): { response: ChatResponse; view: ConversationView } {
  const response = newResponse(RESPONSE);
  const view = structuredClone(EMPTY);
  events.forEach((event, at) => {
    if (returns.includes(at)) {
      const present = structuredClone(answerOf(foldAll(events.slice(0, at))));
      const own = { scope: 'response' as const, response: present };
      foldEvent(response, { type: 'snapshot', snapshot: own });
      const conversation = { ...structuredClone(EMPTY), responses: [structuredClone(present)] };
      foldConversation(view, {
        type: 'snapshot',
        snapshot: { scope: 'conversation', conversation },
      });
    }
    foldEvent(response, event);
    foldConversation(view, event);
  });
  return { response, view };
}

it('a fold with any returns, at any place, is the fold of the whole, without what was taken back', () => {
  const isWhole = fc.property(TURNS, fc.array(fc.nat(60), { maxLength: 2 }), (turns, more) => {
    const events = eventsOf(turns);
    const whole = foldAll(events);
    expect(whole).toEqual(answerOf(whole));
    const texts = whole.documents.map(({ content }) => content);
    expect(new Set(texts)).toEqual(new Set(turns.map((_, turn) => `turn ${turn}`)));
    for (let at = 0; at < events.length; at++) {
      const { response, view } = readWithReturns(events, [at, ...more]);
      expect(response, `returns at ${at}`).toEqual(whole);
      expect(view.responses, `returns at ${at}`).toEqual([whole]);
    }
  });
  fc.assert(isWhole, { seed: 1, numRuns: fewOf(60, 10) });
});

it('keeps how an approval ended, once no other question replaces it', () => {
  const documentId = 'doc_001';
  const callId = 'call_00000000-0000-4000-8000-000000000000';
  const response = newResponse(RESPONSE);
  foldEvent(response, {
    type: 'document_start',
    document: { id: documentId, type: 'tool_call', sequence: 1 },
  });
  const resolved = { type: 'approval_resolved', documentId, callId } as const;
  foldEvent(response, { ...resolved, decision: 'superseded', by: 'drawbridge' });
  expect(response.documents[0]?.metadata).toEqual({});
  const answer = { decision: 'once', by: 'device', scope: 'always' } as const;
  foldEvent(response, { ...resolved, ...answer });
  expect(response.documents[0]?.metadata).toEqual({ answered: answer });
});
