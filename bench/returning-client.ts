/** An answer with one reader that is never cut off, and clients that come back to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatEvent, lastCursorIn } from '../shared/api/sse.ts';
import type { Answering } from './client.ts';
import { nowMs } from './clock.ts';
import { type House, messageFor } from './house.ts';
import type { ScriptName } from './scripts.ts';
import { readEvents, textIn, wholeFramesOf } from './sse-text.ts';
import { TOKEN_CHARS } from './stamps.ts';

/** An answer of one text document, as the uncut reader has it. */
export interface WatchedAnswer {
  /** The path of the answer's events, below the API's root. */
  readonly path: string;
  readonly ended: Answering['ended'];
  /** Everything that the reader has received. */
  text(): string;
  /** The cursor of a client that was cut off after this many tokens. */
  cursorAt(tokens: number): number;
  /** Resolves when the reader has this many tokens. @throws if the answer ends earlier. */
  has(tokens: number): Promise<void>;
}

/** Resolves when the answer's text begins. */
export async function startAnswer(
  house: Pick<House, 'request'>,
  script: ScriptName,
): Promise<WatchedAnswer> {
  let text = '';
  let heard = Promise.withResolvers<void>();
  const { headers, ended } = await house.request('chat/completions', {
    method: 'POST',
    body: messageFor(script),
    onText(piece) {
      text += piece;
      heard.resolve();
      heard = Promise.withResolvers();
    },
  });
  const until = async (condition: () => boolean) => {
    while (!condition()) await Promise.race([heard.promise, ended.then(endedEarly)]);
  };
  let textStart = Number.NaN;
  await until(() => {
    const start = readEvents(text).find(({ event }) => event.type === 'document_start');
    textStart = start?.position ?? Number.NaN;
    return start !== undefined;
  });
  return {
    path: `chat/completions/${headers['drawbridge-response-id']}/events`,
    ended,
    text: () => text,
    cursorAt: (tokens) => textStart + tokens * TOKEN_CHARS,
    has: (tokens) => until(() => headOf(text) >= textStart + tokens * TOKEN_CHARS),
  };
}

function endedEarly(): never {
  throw new Error('The answer ended before it had what was waited for.');
}

/** What a client received until it had everything that the uncut reader had when the client came back. */
export interface Return {
  readonly requests: number;
  readonly events: number;
  readonly bytes: number;
  readonly ms: number;
  /** Bytes of the text that the client lacked, and of other events after its cursor, as the uncut reader got them. */
  readonly neededBytes: number;
}

/** Comes back with a cursor, or joins without one. @throws if the text differs from the uncut reader's text. */
export async function comeBack(
  house: Pick<House, 'request'>,
  answer: WatchedAnswer,
  cursor: number | null,
): Promise<Return> {
  const head = headOf(answer.text());
  const startMs = nowMs();
  let position = cursor ?? 0;
  let requests = 0;
  let text = '';
  while (position < head) {
    requests++;
    text += await readTo(
      house,
      answer.path,
      cursor === null && requests === 1 ? null : position,
      head,
    );
    position = headOf(text);
  }
  const ms = nowMs() - startMs;
  const neededBytes = await neededFor(answer, text, cursor ?? 0);
  return { requests, events: readEvents(text).length, bytes: text.length, ms, neededBytes };
}

/** Sends one request and reads its whole frames up to that position, or to its end. */
async function readTo(
  house: Pick<House, 'request'>,
  path: string,
  cursor: number | null,
  head: number,
): Promise<string> {
  const leaving = new AbortController();
  const caughtUp = Promise.withResolvers<void>();
  let text = '';
  const { ended } = await house.request(path, {
    headers: cursor === null ? {} : { 'last-event-id': `${cursor}` },
    onText(piece) {
      text += piece;
      if (headOf(text) >= head) caughtUp.resolve();
    },
    signal: leaving.signal,
  });
  await Promise.race([caughtUp.promise, ended]);
  leaving.abort();
  return wholeFramesOf(text);
}

async function neededFor(answer: WatchedAnswer, text: string, cursor: number): Promise<number> {
  const got = readEvents(text);
  const words = textIn(got);
  const position = headOf(text);
  const start = Math.max(0, cursor - answer.cursorAt(0));
  // Waits for the text that is still on its way to the uncut reader.
  while (textIn(readEvents(answer.text())).length < start + words.length) await sleep(1);
  const all = readEvents(answer.text());
  if (textIn(all).slice(start, start + words.length) !== words) {
    throw new Error('Who came back was sent other words than who had stayed.');
  }
  const others = all.filter(({ event }) => event.type !== 'content_delta');
  const lacked = others.filter(
    (sent) => (sent.position ?? 0) > cursor && (sent.position ?? 0) <= position,
  );
  const frames = lacked.map((sent) => formatEvent(sent.event, sent.position, 'named'));
  return words.length + frames.join('').length;
}

/** The position of the last whole frame; 0 before the first. */
function headOf(text: string): number {
  return lastCursorIn(wholeFramesOf(text)) ?? 0;
}
