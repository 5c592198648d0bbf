import { describe, expect, it, vi } from 'vitest';
import type { AccountEvent, Positioned } from '../../client/index.ts';
import { createClient } from '../../client/index.ts';
import { CLIENT_LIMITS } from '../../client/limits.ts';
import { formatEvent } from '../../shared/api/sse.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from './sample-tape.ts';
import { eventsAfter, type Fate, NEVER, startScriptedApi, streamText } from './scripted-api.ts';
import { createTestClock } from './test-clock.ts';

const HELLO = { messages: [{ role: 'user' as const, content: 'Hé 👋' }] };
const WHOLE = eventsAfter(SAMPLE_TAPE, 0);
const END = WHOLE.at(-1)?.position ?? 0;
const TOTAL_BYTES = Buffer.byteLength(streamText(WHOLE));
const EXPECTED = fold(WHOLE);
/** A prime: the cuts fall on every part of an event. Each single byte is follow.deep.ts. */
const STEP = 37;

describe('a response stream', () => {
  it.each([
    { name: 'torn', rudely: true },
    { name: 'ended politely', rudely: false },
  ])('folds to the same documents wherever its connection is $name', async ({ rudely }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    for (let afterBytes = 0; afterBytes <= TOTAL_BYTES; afterBytes += STEP) {
      api.fates.push({ type: 'cut', afterBytes, rudely });
      const events = await collect(client.streamChat(HELLO));
      expect(fold(events), `cut after ${afterBytes} bytes`).toEqual(EXPECTED);
    }
  });

  it('folds to the same documents when every connection is cut again and again', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    for (let afterBytes = 330; afterBytes <= 600; afterBytes += 9) {
      const fate: Fate = { type: 'cut', afterBytes, rudely: false };
      api.fates.splice(0, api.fates.length, ...Array.from({ length: 12 }, () => fate));
      expect(fold(await collect(client.streamChat(HELLO)))).toEqual(EXPECTED);
    }
  });

  it('folds to the same documents when it comes byte by byte', async () => {
    const bytes = new TextEncoder().encode(streamText(WHOLE));
    const fetch = async () =>
      new Response(ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte))));
    const client = createClient({ url: 'http://x', token: 'token', fetch }, createTestClock());
    expect(fold(await collect(client.followResponse(RESPONSE_ID)))).toEqual(EXPECTED);
  });

  it('gives an event without a position the cursor that stands there', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const [first, heartbeat] = await collect(client.streamChat(HELLO));
    expect(heartbeat).toEqual({ event: { type: 'heartbeat' }, position: first?.position });
  });

  it('sends the message once and comes back with its cursor', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const seen = streamText(WHOLE.slice(0, 4));
    api.fates.push({ type: 'text', text: seen }, { type: 'text', text: '' });
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    await collect(client.streamChat({ ...HELLO, mode: 'ask' }));
    const again = `GET chat/completions/${RESPONSE_ID}/events?after=${WHOLE[3]?.position}`;
    expect(api.requests).toEqual([
      { line: 'POST chat/completions', body: { ...HELLO, mode: 'ask', stream: true } },
      { line: again },
      { line: again },
    ]);
  });

  it('keeps events it does not know as they came, and moves its cursor past them', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const text = [
      'event: telepathy\ndata: not even JSON\n\n',
      'event: telekinesis\ndata: {"spoons": 2}\n\n',
      `event: content_delta\nid: ${END - 1}\ndata: {"documentId": "doc_001", "delta": 7}\n\n`,
    ].join('');
    api.fates.push({ type: 'text', text });
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const events = await collect(client.streamChat(HELLO));
    const otherForm = { documentId: 'doc_001', delta: 7 };
    expect(events.slice(0, -1)).toEqual([
      { position: undefined, event: { type: 'unknown', name: 'telepathy', data: 'not even JSON' } },
      { position: undefined, event: { type: 'unknown', name: 'telekinesis', data: { spoons: 2 } } },
      { position: END - 1, event: { type: 'unknown', name: 'content_delta', data: otherForm } },
    ]);
    expect(events.at(-1)).toMatchObject({ position: END, event: { type: 'done' } });
  });

  it('is over when the server has nothing more to say', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    expect(await collect(client.followResponse(RESPONSE_ID, { cursor: END }))).toEqual([]);
  });

  it('is over with a snapshot of a response that is over', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const snapshot = { scope: 'response' as const, response: EXPECTED };
    const text = formatEvent({ type: 'snapshot', snapshot }, 9_000, 'named');
    api.fates.push({ type: 'text', text, rest: NEVER });
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const events = await collect(client.followResponse(RESPONSE_ID, { cursor: 5 }));
    expect(fold(events)).toEqual(EXPECTED);
    expect(events.map(({ position }) => position)).toEqual([9_000]);
  });

  it('returns after a connection that fell silent, opened or not yet', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const seen = streamText(WHOLE.slice(0, 4));
    api.fates.push({ type: 'text', text: seen, rest: NEVER }, { type: 'unanswered' });
    const clock = createTestClock();
    const client = createClient({ url: api.url, token: 'token' }, clock);
    const problems: unknown[] = [];
    const onReconnect = (problem: unknown) => {
      if (problems.push(problem) === 1) setImmediate(() => clock.fallSilent());
    };
    const events: Positioned[] = [];
    for await (const positioned of client.streamChat(HELLO, { onReconnect })) {
      events.push(positioned);
      if (positioned.position === WHOLE[3]?.position) setImmediate(() => clock.fallSilent());
    }
    expect(fold(events)).toEqual(EXPECTED);
    const silent = { code: 'UNREACHABLE', message: 'The connection fell silent' };
    expect(problems).toMatchObject([silent, silent]);
  });
});

describe('the watch over a connection', () => {
  it('ends with each wait for it', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const clock = createTestClock();
    const watches: AbortSignal[] = [];
    const sleep = (ms: number, signal: AbortSignal) => {
      if (ms === CLIENT_LIMITS.silentMs) watches.push(signal);
      return clock.sleep(ms, signal);
    };
    const client = createClient({ url: api.url, token: 'token' }, { ...clock, sleep });
    await collect(client.followResponse(RESPONSE_ID));
    expect(watches.length).toBeGreaterThan(1);
    expect(watches.filter(({ aborted }) => !aborted)).toEqual([]);
  });

  it('gives up a request that brings no answer', async () => {
    const clock = createTestClock();
    const signals: (AbortSignal | null | undefined)[] = [];
    const fetch = (_: unknown, init?: RequestInit) => {
      if (signals.push(init?.signal) > 1)
        return Promise.resolve(new Response(null, { status: 204 }));
      setImmediate(() => clock.fallSilent());
      return new Promise<never>(() => undefined);
    };
    const client = createClient({ url: 'http://x', token: 'token', fetch }, clock);
    await collect(client.followResponse(RESPONSE_ID));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  });
});

describe('between two connections the client', () => {
  it('waits longer after each failure, up to a bound, and starts anew after a success', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const down: Fate = { type: 'refuse', status: 503, body: {} };
    const progress: Fate = { type: 'text', text: streamText(WHOLE.slice(0, 4)) };
    api.fates.push(progress, ...Array.from({ length: 9 }, () => down), progress);
    const clock = createTestClock();
    const client = createClient({ url: api.url, token: 'token' }, clock);
    await collect(client.streamChat(HELLO));
    const { backoffMaxMs: max } = CLIENT_LIMITS;
    expect(clock.waitsMs).toEqual([
      ...[100, 200, 400, 800, 1_600, 3_200, 6_400, max, max, max],
      100,
    ]);
  });

  it.each([
    { random: 0, waitsMs: [50] },
    { random: 0.5, waitsMs: [75] },
  ])('waits $waitsMs ms when chance is $random', async ({ random, waitsMs }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.fates.push({ type: 'text', text: 'retry: 100\n\n' });
    const clock = createTestClock(random);
    const client = createClient({ url: api.url, token: 'token' }, clock);
    await collect(client.followResponse(RESPONSE_ID));
    expect(clock.waitsMs).toEqual(waitsMs);
  });

  it('waits a moment, also where the server wishes for none', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.fates.push({ type: 'text', text: 'retry: 0\n\n' });
    const clock = createTestClock();
    const client = createClient({ url: api.url, token: 'token' }, clock);
    await collect(client.followResponse(RESPONSE_ID));
    expect(clock.waitsMs).toEqual([CLIENT_LIMITS.backoffMinMs]);
  });

  it('says what ended the last one', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.fates.push({ type: 'text', text: '' }, { type: 'refuse', status: 502, body: 'proxy' });
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const errors: unknown[] = [];
    const onReconnect = (error: unknown) => errors.push(error);
    await collect(client.followResponse(RESPONSE_ID, { onReconnect }));
    expect(errors).toMatchObject([undefined, { code: 'BAD_ANSWER', status: 502 }]);
  });

  it.each([401, 403, 404])(
    'comes back after a %i of something on the way, and says it each time',
    async (status) => {
      await using api = await startScriptedApi(SAMPLE_TAPE);
      const strange: Fate = { type: 'refuse', status, body: '<html>Sign in</html>' };
      api.fates.push({ type: 'text', text: streamText(WHOLE.slice(0, 4)) }, strange, strange);
      const clock = createTestClock();
      const renewed = vi.fn((_refused: string | undefined) => 'token');
      const client = createClient({ url: api.url, token: renewed }, clock);
      const errors: unknown[] = [];
      const onReconnect = (error: unknown) => errors.push(error);
      expect(fold(await collect(client.streamChat(HELLO, { onReconnect })))).toEqual(EXPECTED);
      const shown = { code: 'BAD_ANSWER', status };
      expect(errors).toMatchObject([undefined, shown, shown]);
      expect(clock.waitsMs).toEqual([100, 200, 400]);
      // Each was asked once for each request, and never for another token.
      expect(renewed.mock.calls.map(([refused]) => refused)).toEqual(Array(4).fill(undefined));
    },
  );

  it.each([401, 403, 404])(
    'gives up at once where its first answer is a strange %i',
    async (status) => {
      await using api = await startScriptedApi(SAMPLE_TAPE);
      api.fates.push({ type: 'refuse', status, body: { error: 'no such app' } });
      const client = createClient({ url: api.url, token: 'token' }, createTestClock());
      const all = collect(client.followResponse(RESPONSE_ID));
      await expect(all).rejects.toMatchObject({ code: 'WRONG_ADDRESS', status });
      expect(api.requests).toHaveLength(1);
    },
  );

  it.each([
    { status: 400, code: 'INVALID_CURSOR', gaveUp: true },
    { status: 404, code: 'NOT_FOUND', gaveUp: true },
    { status: 408, code: 'TIMEOUT', gaveUp: false },
    { status: 429, code: 'TOO_MANY', gaveUp: false },
    { status: 500, code: 'INTERNAL', gaveUp: false },
  ])('gives up: $gaveUp, after status $status', async ({ status, code, gaveUp }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.fates.push({ type: 'refuse', status, body: { error: { code, message: 'No.' } } });
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const all = collect(client.followResponse(RESPONSE_ID));
    if (gaveUp) await expect(all).rejects.toMatchObject({ code, status, message: 'No.' });
    else expect(fold(await all)).toEqual(EXPECTED);
  });
});

describe('a slow reader', () => {
  it('lets the network wait: nothing is read before it is asked for', async () => {
    const frames = WHOLE.map(({ event, position }) => formatEvent(event, position, 'named'));
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const frame = frames[pulled++];
          if (frame === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(frame));
        },
      },
      { highWaterMark: 0 },
    );
    const fetch = async () => new Response(body);
    const client = createClient({ url: 'http://x', token: 'token', fetch }, createTestClock());
    const events = client.followResponse(RESPONSE_ID);
    for (let taken = 1; taken <= 4; taken++) {
      await events.next();
      await new Promise(setImmediate);
      expect(pulled).toBe(taken);
    }
    await events.return();
  });
});

describe('a reader that leaves', () => {
  it('by its signal gets the reason of the signal', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.fates.push({ type: 'text', text: streamText(WHOLE.slice(0, 4)), rest: NEVER });
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const leaving = new AbortController();
    const reason = new Error('The tab was closed');
    const onReconnect = vi.fn();
    const options = { signal: leaving.signal, onReconnect };
    const reading = async () => {
      for await (const { position } of client.streamChat(HELLO, options)) {
        if (position === WHOLE[3]?.position) setImmediate(() => leaving.abort(reason));
      }
    };
    await expect(reading()).rejects.toBe(reason);
    expect(api.requests).toHaveLength(1);
    expect(onReconnect).not.toHaveBeenCalled();
  });

  it('by its signal is let go even when its fetch knows no signals', async () => {
    const deaf: typeof fetch = async () =>
      new Response(new ReadableStream({ start: (body) => body.enqueue(FIRST_BYTES) }));
    const client = createClient(
      { url: 'http://x', token: 'token', fetch: deaf },
      createTestClock(),
    );
    const leaving = new AbortController();
    const following = client.followConversation(CONVERSATION_ID, { signal: leaving.signal });
    await following.next();
    await following.next();
    const next = following.next();
    setImmediate(() => leaving.abort());
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('has left nothing at its signal, however many connections there were', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.fates.push(...Array.from({ length: 20 }, () => ({ type: 'text', text: '' }) as const));
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await collect(client.followResponse(RESPONSE_ID, { signal }));
    expect(added.mock.calls.length).toBeGreaterThan(20);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });

  it('by leaving the loop closes its connection', async () => {
    let closed = false;
    const fetch = async () =>
      new Response(
        new ReadableStream({
          start: (body) => body.enqueue(FIRST_BYTES),
          cancel: () => {
            closed = true;
          },
        }),
      );
    const client = createClient({ url: 'http://x', token: 'token', fetch }, createTestClock());
    for await (const _ of client.followConversation(CONVERSATION_ID)) break;
    expect(closed).toBe(true);
  });
});

it('the stream of an account returns with its cursor, and keeps what it does not know', async () => {
  await using api = await startScriptedApi(SAMPLE_TAPE);
  const bridge = { id: 'bridge_1', connected: true, lastConnected: '2026-11-20T12:00:00.000Z' };
  api.fates.push(
    { type: 'text', text: formatEvent({ type: 'reset' }, 7, 'named') },
    { type: 'text', text: formatEvent({ type: 'bridge', bridge }, 8, 'named') },
    { type: 'text', text: 'event: conversation\nid: 9\ndata: {"id": 1}\n\n', rest: NEVER },
  );
  const client = createClient({ url: api.url, token: 'token' }, createTestClock());
  const events: Positioned<AccountEvent>[] = [];
  for await (const event of client.followAccount()) {
    events.push(event);
    if (events.length === 3) break;
  }
  expect(events).toEqual([
    { position: 7, event: { type: 'reset' } },
    { position: 8, event: { type: 'bridge', bridge } },
    { position: 9, event: { type: 'unknown', name: 'conversation', data: { id: 1 } } },
  ]);
  expect(api.requests.map(({ line }) => line)).toEqual([
    'GET events',
    'GET events?after=7',
    'GET events?after=8',
  ]);
});

const FIRST_BYTES = new TextEncoder().encode(streamText(WHOLE.slice(0, 1)));

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function fold(events: readonly { readonly event: Positioned['event'] }[]): ChatResponse {
  const response = newResponse({
    id: RESPONSE_ID,
    conversationId: CONVERSATION_ID,
    model: 'demo',
    mode: 'agent',
    created: '2026-11-20T12:00:00Z',
  });
  for (const { event } of events) foldEvent(response, event);
  return response;
}
