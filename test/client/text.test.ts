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

/** A generator of numbers below `limit` (mulberry32). */
function randomFrom(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

type Part = {
  readonly type: 'text' | 'code_block' | 'tool_call' | 'reasoning';
  readonly text: string;
};

it.each([
  ['says the same again', true],
  ['says something else', false],
])('gives the whole text where the model, after a crash, %s', async (_, isSame) => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const newTurn = () =>
      Array.from({ length: 1 + random(4) }, (): Part => {
        const type =
          (['text', 'code_block', 'tool_call', 'reasoning'] as const)[random(4)] ?? 'text';
        const words = ['Grüße ', '👋', '👍🏽', 'two\n', 'three ', '```', '\n\n'];
        const text = Array.from({ length: 1 + random(6) }, () => words[random(7)]).join('');
        // The fence of the model is longer than any in its code.
        const said = type === 'code_block' ? text.replaceAll(/`{3,}/g, '```') : text;
        return { type, text: said.trim() === '' ? 'x' : said };
      });
    let sequence = 0;
    /** The events of a turn that is cut after some of them; undefined: it is whole. */
    const turnOf = (parts: readonly Part[], cut?: number): TapeEvent[] => {
      const open = new Set<string>();
      const events = parts.flatMap(({ type, text }): TapeEvent[] => {
        const id = `doc_${++sequence}`;
        const at = random(text.length);
        const metadata =
          type === 'code_block' ? { metadata: { language: 'js', fenceLength: 4 } } : {};
        const pieces = [text.slice(0, at), text.slice(at)].filter(
          (piece) => piece !== '' && piece.isWellFormed(),
        );
        const deltas = pieces.join('') === text ? pieces : [text];
        return [
          { type: 'document_start', document: { id, type, sequence, ...metadata } },
          ...(type === 'tool_call'
            ? []
            : deltas.map((delta): TapeEvent => ({ type: 'content_delta', documentId: id, delta }))),
          { type: 'document_end', documentId: id },
        ];
      });
      const told = events.slice(0, cut === undefined ? events.length : cut % events.length);
      if (cut === undefined) return told;
      for (const event of told) if (event.type === 'document_start') open.add(event.document.id);
      const taken = [...open].map((documentId): TapeEvent => {
        return { type: 'document_end', documentId, metadata: { interrupted: true } };
      });
      return [...told, ...taken];
    };
    const first = newTurn();
    const turn = newTurn();
    const again = isSame ? turn : newTurn();
    const events = [
      START,
      ...turnOf(first),
      ...turnOf(turn, random(100)),
      ...turnOf(again),
      done(),
    ];
    const response = newResponse(START.response);
    for (const event of events) foldEvent(response, event);
    const { content: whole } = renderWords(answerOf(response).documents);
    const { text, rewinds } = await read(events);
    expect(text, `seed ${seed}`).toBe(whole);
    if (isSame) expect(rewinds, `seed ${seed}`).toBe(0);
    // The reader that was away meanwhile gets a snapshot.
    const at = 1 + random(events.length - 2);
    const seen = newResponse(START.response) as ChatResponse;
    for (const event of events.slice(0, at)) foldEvent(seen, event);
    const before = events.slice(0, 1 + random(at));
    const snapshot = {
      type: 'snapshot',
      snapshot: { scope: 'response', response: answerOf(seen) },
    };
    const away = await read([...before, snapshot as ReadEvent, ...events.slice(at)]);
    expect(away.text, `seed ${seed}`).toBe(whole);
  }
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
