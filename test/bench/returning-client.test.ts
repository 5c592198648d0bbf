import { expect, it } from 'vitest';
import type { House } from '../../bench/house.ts';
import { comeBack, startAnswer } from '../../bench/returning-client.ts';
import { TOKEN_CHARS } from '../../bench/stamps.ts';
import { formatEvent } from '../../shared/api/sse.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';

const TEXT = '@0001@0002@0003';
const START = 3;
const END = START + TEXT.length + 1;
const DOCUMENT = { id: 'doc_001', type: 'text', sequence: 1, metadata: {} } as const;

it('counts what a client gets that comes back, and how often it had to ask', async () => {
  const at = await returnsAt(END);
  expect(await at(1)).toMatchObject({ requests: 1, events: 2 });
  expect(await at(3)).toMatchObject({ requests: 1, events: 1 });
  expect(await at(null)).toMatchObject({ requests: 1, events: 3 });
  const piecemeal = await returnsAt(START + TOKEN_CHARS);
  expect(await piecemeal(0)).toMatchObject({ requests: 2, events: 3 });
});

it('holds the bytes against the missing words and the events behind them', async () => {
  const at = await returnsAt(END);
  const { bytes, neededBytes } = await at(1);
  const end = frameOf(endEvent(TEXT), END);
  expect(neededBytes).toBe(TEXT.length - TOKEN_CHARS + end.length);
  expect(bytes).toBe(frameOf(delta(TEXT.slice(TOKEN_CHARS)), END - 1).length + end.length);
});

it('does not take other words for the missing ones', async () => {
  const at = await returnsAt(END, 'x');
  await expect(at(1)).rejects.toThrow('other words');
});

/** Comes back behind so many tokens, to a server that ends a stream at `stop` first and says `instead` of the text's end. */
async function returnsAt(stop: number, instead?: string) {
  const whole =
    frameOf({ type: 'document_start', document: DOCUMENT }, START) +
    frameOf(delta(TEXT), END - 1) +
    frameOf(endEvent(TEXT), END);
  let isFirst = true;
  const house: Pick<House, 'request'> = {
    async request(path, { headers, onText } = {}) {
      if (path === 'chat/completions') onText?.(whole);
      else {
        const cursor = headers?.['last-event-id'];
        onText?.(cursor === undefined ? whole : restFrom(Number(cursor), isFirst ? stop : END));
        isFirst = false;
      }
      const answered = { headers: {}, bytes: 0, totalMs: 0 };
      return { headers: {}, ended: Promise.resolve(answered) };
    },
  };
  const restFrom = (cursor: number, end: number) => {
    const words = TEXT.slice(cursor - START, end - START);
    const last = Math.min(end, END - 1);
    const said = words === '' ? '' : frameOf(delta(instead?.repeat(words.length) ?? words), last);
    return said + (end === END ? frameOf(endEvent(TEXT), END) : '');
  };
  const answer = await startAnswer(house, 'burst');
  return (tokens: number | null) =>
    comeBack(house, answer, tokens === null ? null : answer.cursorAt(tokens));
}

function delta(text: string): StreamEvent {
  return { type: 'content_delta', documentId: DOCUMENT.id, delta: text };
}

function endEvent(finalContent: string): StreamEvent {
  return { type: 'document_end', documentId: DOCUMENT.id, finalContent };
}

function frameOf(event: StreamEvent, position: number): string {
  return formatEvent(event, position, 'named');
}
