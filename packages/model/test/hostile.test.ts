import { beforeEach, expect, it, vi } from 'vitest';
import { MIB } from '../../../shared/units.ts';
import { askModel, type GatewayAnswer } from '../gateway.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { targetOf } from './target.ts';

const REQUEST = { model: 'big', messages: [], tools: [] };
const { firstByteMs, stallMs, maxAnswerMs, maxAnswerChars, maxStreamBytes } = UPSTREAM_LIMITS;
const SSE = 'text/event-stream';
const JSON_TYPE = 'application/json';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  });
});

const text = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

const completion = JSON.stringify({
  choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }],
});

it.each<[string, string, string, object]>([
  ['a stream called JSON', JSON_TYPE, `${text('Hi.')}data: [DONE]\n\n`, { text: 'Hi.' }],
  ['a stream called HTML', 'text/html', `${text('Hi.')}data: [DONE]\n\n`, { text: 'Hi.' }],
  ['a completion called a stream', SSE, completion, { text: 'Hi.' }],
  ['a completion behind blank lines', SSE, `\n\n \n${completion}`, { text: 'Hi.' }],
  [
    'an error called a stream',
    SSE,
    '{"error":{"message":"no credit","code":"x"}}',
    { outcome: 'error', error: { message: 'no credit', code: 'x' } },
  ],
  [
    'a page called a stream',
    SSE,
    '<!doctype html><h1>Sign in</h1>',
    {
      outcome: 'error',
      error: { message: 'The model server sent something that is not an answer.' },
    },
  ],
  ['an empty stream', SSE, '', { outcome: 'interrupted' }],
  ['an empty body', JSON_TYPE, '', { outcome: 'interrupted' }],
  ['blanks', SSE, '\n\n\n', { outcome: 'interrupted' }],
  ['words', 'text/plain', 'upstream connect error', { outcome: 'interrupted' }],
])(
  'a body that lies about its type is read as what it is: %s',
  async (_, contentType, body, reply) => {
    const { answer } = ask(new Response(body, { headers: { 'content-type': contentType } }));
    expect((await answer).reply).toMatchObject(reply);
  },
);

it.each([301, 302, 307, 308])('a redirect %i is not followed, and is no answer', async (status) => {
  const headers = { location: 'https://thief.test/' };
  const { answer, requests } = ask(new Response(null, { status, headers }));
  const { reply, retry, fallback } = await answer;
  expect(requests).toEqual([
    expect.objectContaining({ url: 'http://model.test/v1/chat/completions', redirect: 'manual' }),
  ]);
  expect(retry).toBeNull();
  expect(fallback).toBe('never');
  expect(reply).toMatchObject({ outcome: 'error', error: { status } });
  expect(reply.error?.message).not.toContain('thief');
});

const block = 'x'.repeat(MIB);

it.each<[string, string, () => string, number, object]>([
  [
    'one endless line',
    SSE,
    () => block,
    16 * MIB,
    { outcome: 'error', error: { message: expect.stringContaining('An event of the stream') } },
  ],
  [
    'an endless answer',
    SSE,
    () => text(block),
    maxAnswerChars + 4 * MIB,
    { outcome: 'error', error: { message: expect.stringContaining('The answer is longer') } },
  ],
  [
    'calls without end',
    SSE,
    () => `data: ${JSON.stringify(manyCalls())}\n\n`,
    32 * MIB,
    { outcome: 'error', error: { message: expect.stringContaining('The answer is longer') } },
  ],
  [
    'events that say nothing',
    SSE,
    () => `data: {"choices":[],"padding":"${block}"}\n\n`,
    maxStreamBytes + 4 * MIB,
    { outcome: 'error', error: { message: expect.stringContaining('The stream is longer') } },
  ],
  [
    'an endless completion',
    JSON_TYPE,
    () => `{"x":"${block}`,
    8 * MIB,
    {
      outcome: 'error',
      error: { message: 'The model server sent something that is not an answer.' },
    },
  ],
])(
  'a body without measure ends in bounded time and memory: %s',
  async (_, contentType, next, maxBytes, reply) => {
    const endless = endlessBody(next);
    const { answer } = ask(
      new Response(endless.body, { headers: { 'content-type': contentType } }),
    );
    const { reply: got, retry } = await answer;
    expect(got).toMatchObject(reply);
    expect(retry).toBeNull();
    expect(endless.sent()).toBeLessThan(maxBytes);
    expect(endless.isCancelled()).toBe(true);
  },
);

it('a body that drips: a byte a second of one event is silence', async () => {
  const drip = dripOf(() => 'x');
  const { answer } = ask(drip.response);
  await drip.forMs(firstByteMs, 1_000);
  expect(await answer).toMatchObject(STOPPED);
});

it('a body that drips: blanks instead of an answer are silence', async () => {
  const drip = dripOf(() => '\n');
  const { answer } = ask(drip.response);
  await drip.forMs(firstByteMs, 1_000);
  expect(await answer).toMatchObject(STOPPED);
});

it('a body that drips without end is ended, and not asked for again', async () => {
  const drip = dripOf(() => 'data: {"choices":[]}\n\n');
  const { answer } = ask(drip.response);
  await drip.forMs(maxAnswerMs + stallMs, stallMs - 1_000);
  expect(await answer).toMatchObject({
    reply: {
      outcome: 'error',
      error: { message: 'The model server did not finish in time.' },
    },
    retry: null,
  });
});

const STOPPED = {
  reply: { outcome: 'error', error: { message: 'The model server stopped answering.' } },
  retry: { afterMs: null },
  fallback: 'at_last',
};

const refusal = {
  detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }],
};

it('a server that refuses stream_options is asked once more without them', async () => {
  const { answer, bodies } = ask(
    Response.json(refusal, { status: 422 }),
    new Response(`${text('Hi.')}data: [DONE]\n\n`, { headers: { 'content-type': SSE } }),
  );
  expect((await answer).reply).toMatchObject({ outcome: 'completed', text: 'Hi.' });
  expect(bodies.map((body) => 'stream_options' in body)).toEqual([true, false]);
});

it('a server that refuses stream_options and then something else is believed', async () => {
  const { answer, bodies } = ask(
    Response.json(refusal, { status: 422 }),
    Response.json(refusal, { status: 422 }),
  );
  expect((await answer).reply).toMatchObject({ outcome: 'error', error: { status: 422 } });
  expect(bodies).toHaveLength(2);
});

interface Asked {
  readonly answer: Promise<GatewayAnswer>;
  readonly requests: Request[];
  readonly bodies: Record<string, unknown>[];
}

/** An answer that gets to know when it is given up, as a real connection does. */
type Answering = (signal: AbortSignal | null | undefined) => Response;

/** A request whose attempts get these responses. */
function ask(...responses: readonly (Response | Answering)[]): Asked {
  const requests: Request[] = [];
  const bodies: Record<string, unknown>[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    requests.push(new Request(input, init));
    bodies.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
    const response = responses[requests.length - 1];
    if (!response) throw new Error('one request too many');
    return response instanceof Response ? response : response(init?.signal);
  });
  // What a server of another test has refused is remembered of it.
  const target = targetOf({ upstreamId: crypto.randomUUID() });
  const answer = askModel(target, REQUEST, () => {}, new AbortController().signal);
  return { answer, requests, bodies };
}

/** Hands out `next()` for ever, as fast as it is read. */
function endlessBody(next: () => string) {
  const encoder = new TextEncoder();
  let sent = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const bytes = encoder.encode(next());
      sent += bytes.length;
      controller.enqueue(bytes);
    },
    cancel() {
      isCancelled = true;
    },
  });
  return { body, sent: () => sent, isCancelled: () => isCancelled };
}

let callCount = 0;

function manyCalls(): object {
  const calls = Array.from({ length: 5_000 }, () => {
    callCount++;
    return { index: callCount, id: `c${callCount}`, function: { name: 'f', arguments: '' } };
  });
  return { choices: [{ delta: { tool_calls: calls } }] };
}

/** A stream that brings `next()` at every step of the clock, until it is given up. */
function dripOf(next: () => string) {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
  });
  const response: Answering = (signal) => {
    signal?.addEventListener('abort', () => {
      isOver = true;
      controller?.error(signal.reason);
    });
    return new Response(body, { headers: { 'content-type': SSE } });
  };
  return {
    response,
    async forMs(totalMs: number, stepMs: number): Promise<void> {
      for (let atMs = 0; atMs <= totalMs && !isOver; atMs += stepMs) {
        controller?.enqueue(encoder.encode(next()));
        await vi.advanceTimersByTimeAsync(stepMs);
      }
    },
  };
}
