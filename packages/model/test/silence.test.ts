import { beforeEach, expect, it, vi } from 'vitest';
import { askModel, type GatewayAnswer } from '../gateway.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { SlowUpstream } from './slow-upstream.ts';
import { targetOf } from './target.ts';

const REQUEST = { model: 'm', messages: [], tools: [] };
const { firstByteMs, stallMs, stallTickMs } = UPSTREAM_LIMITS;

beforeEach(() => {
  vi.useFakeTimers();
});

it('an upstream that goes silent is given up before it answers at all', async () => {
  const { upstream, answer } = ask();
  await vi.advanceTimersByTimeAsync(firstByteMs - 1);
  expect(upstream.signal?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await answer).toMatchObject(STOPPED);
  expect(upstream.signal?.aborted).toBe(true);
});

it('an upstream that goes silent is given up after its last data, however many comments it sends', async () => {
  const { upstream, answer } = ask();
  upstream.open();
  await upstream.send('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n');
  for (let waitedMs = 0; waitedMs < stallMs + stallTickMs; waitedMs += 1_000) {
    expect(upstream.signal?.aborted).toBe(false);
    await upstream.send(': keep-alive\n\n');
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(upstream.signal?.aborted).toBe(true);
  expect(await answer).toMatchObject(STOPPED);
});

it.each([
  ['and keeps what it said before', '', { outcome: 'error', text: 'Hel' }],
  [
    'and has answered where it had come to its end',
    'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
    { outcome: 'completed', text: 'Hel' },
  ],
])('an upstream that goes silent is given up %s', async (_, ending, reply) => {
  const { upstream, answer } = ask();
  upstream.open();
  await upstream.send(`data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n${ending}`);
  await vi.advanceTimersByTimeAsync(stallMs + stallTickMs);
  expect((await answer).reply).toMatchObject(reply);
  expect(upstream.signal?.aborted).toBe(true);
});

it('an upstream is not given up while data comes, however slowly', async () => {
  const { upstream, answer } = ask();
  upstream.open();
  for (let chunk = 0; chunk < 5; chunk++) {
    await vi.advanceTimersByTimeAsync(stallMs - 1_000);
    await upstream.send('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
  }
  await upstream.send('data: [DONE]\n\n');
  expect(await answer).toMatchObject({ reply: { outcome: 'completed', text: 'xxxxx' } });
});

const STOPPED = {
  reply: { outcome: 'error', error: { message: 'The model server stopped answering.' } },
  retry: { afterMs: null },
  fallback: 'at_last',
};

/** A request to an upstream that does only what the test says. */
function ask(): { upstream: SlowUpstream; answer: Promise<GatewayAnswer> } {
  const upstream = new SlowUpstream();
  vi.spyOn(globalThis, 'fetch').mockImplementation((_, init) => upstream.answer(init?.signal));
  const answer = askModel(targetOf(), REQUEST, () => {}, new AbortController().signal);
  return { upstream, answer };
}
