import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ReadEvent } from '../../client/index.ts';
import { textIn } from '../../client/text.ts';
import { renderWords } from '../../shared/shown/markdown.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { TapeEvent } from '../../shared/wire/events.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { RESPONSE_ID, SAMPLE_TAPE } from './sample-tape.ts';

const START = SAMPLE_TAPE[1] as Extract<TapeEvent, { type: 'response_start' }>;
const done = (status: 'completed' | 'error' = 'completed'): TapeEvent => ({
  type: 'done',
  responseId: RESPONSE_ID,
  status,
  usage: null,
  metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
});

/** What a program has that applies the pieces, and how often something was taken back. */
async function read(events: readonly ReadEvent[]) {
  async function* stream() {
    for (const event of events) yield { position: 0, event: structuredClone(event) };
  }
  let text = '';
  let rewinds = 0;
  for await (const piece of textIn(stream())) {
    if (piece.type === 'text') text += piece.text;
    else {
      text = text.slice(0, piece.length);
      rewinds++;
    }
    expect(text.isWellFormed()).toBe(true);
  }
  return { text, rewinds };
}

interface Part {
  readonly type: (typeof TYPES)[number];
  readonly text: string;
  /** Where the text comes in two. */
  readonly at: number;
}

const TYPES = ['text', 'code_block', 'tool_call', 'reasoning'] as const;
const WORDS = ['Grüße ', '👋', '👍🏽', 'two\n', 'three ', '```', '\n\n'];
/** What a model says in a turn. */
const TURN = fc.array(
  fc
    .record({
      type: fc.constantFrom(...TYPES),
      text: fc.string({ unit: fc.constantFrom(...WORDS), minLength: 1, maxLength: 6 }),
      at: fc.nat(30),
    })
    .map(({ type, text, at }): Part => {
      // The fence of the model is longer than any in its code.
      const said = type === 'code_block' ? text.replaceAll(/`{3,}/g, '```') : text;
      return { type, text: said.trim() === '' ? 'x' : said, at };
    }),
  { minLength: 1, maxLength: 4 },
);

/** The events of a turn that is cut after some of them; undefined: it is whole. */
function eventsOf(parts: readonly Part[], first: number, cut?: number): TapeEvent[] {
  const events = parts.flatMap(({ type, text, at }, index): TapeEvent[] => {
    const sequence = first + index;
    const id = `doc_${sequence}`;
    const metadata = type === 'code_block' ? { metadata: { language: 'js', fenceLength: 4 } } : {};
    const halves = [text.slice(0, at), text.slice(at)];
    const deltas = halves.every((half) => half !== '' && half.isWellFormed()) ? halves : [text];
    return [
      { type: 'document_start', document: { id, type, sequence, ...metadata } },
      ...(type === 'tool_call'
        ? []
        : deltas.map((delta): TapeEvent => ({ type: 'content_delta', documentId: id, delta }))),
      { type: 'document_end', documentId: id },
    ];
  });
  if (cut === undefined) return events;
  const told = events.slice(0, cut % events.length);
  const taken = told.flatMap((event): TapeEvent[] => {
    if (event.type !== 'document_start') return [];
    const { id: documentId } = event.document;
    return [{ type: 'document_end', documentId, metadata: { interrupted: true } }];
  });
  return [...told, ...taken];
}

it.each([
  ['says the same again', true],
  ['says something else', false],
])('gives the whole text where the model, after a crash, %s', async (_, isSame) => {
  const numbers = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99));
  const isWhole = fc.asyncProperty(TURN, TURN, TURN, numbers, async (first, turn, other, at) => {
    const [cut, back, left] = at;
    const again = isSame ? turn : other;
    const events = [
      START,
      ...eventsOf(first, 1),
      ...eventsOf(turn, 1 + first.length, cut),
      ...eventsOf(again, 1 + first.length + turn.length),
      done(),
    ];
    const response = newResponse(START.response);
    for (const event of events) foldEvent(response, event);
    const { content: whole } = renderWords(answerOf(response).documents);
    const { text, rewinds } = await read(events);
    expect(text).toBe(whole);
    if (isSame) expect(rewinds).toBe(0);
    // The reader that was away meanwhile gets a snapshot.
    const now = 1 + (back % (events.length - 2));
    const seen = newResponse(START.response) as ChatResponse;
    for (const event of events.slice(0, now)) foldEvent(seen, event);
    const before = events.slice(0, 1 + (left % now));
    const snapshot = {
      type: 'snapshot',
      snapshot: { scope: 'response', response: answerOf(seen) },
    };
    const away = await read([...before, snapshot as ReadEvent, ...events.slice(now)]);
    expect(away.text).toBe(whole);
  });
  await fc.assert(isWhole, { seed: 1, numRuns: 300 });
});

it('takes back what no later text replaces, and throws the error of a failed answer', async () => {
  const text = (delta: string): TapeEvent => ({
    type: 'content_delta',
    documentId: 'doc_1',
    delta,
  });
  const begun: TapeEvent[] = [
    START,
    { type: 'document_start', document: { id: 'doc_1', type: 'text', sequence: 1 } },
    text('One '),
    text('two'),
  ];
  const taken: TapeEvent = {
    type: 'document_end',
    documentId: 'doc_1',
    metadata: { interrupted: true },
  };
  expect(await read([...begun, taken, done()])).toEqual({ text: '', rewinds: 1 });
  const failed: TapeEvent = {
    type: 'document_start',
    document: {
      id: 'doc_2',
      type: 'error',
      sequence: 2,
      metadata: { errorCode: 'TURN_LIMIT', details: 'Too many.' },
    },
  };
  await expect(read([...begun, failed, done('error')])).rejects.toMatchObject({
    code: 'TURN_LIMIT',
    message: 'Too many.',
  });
});
