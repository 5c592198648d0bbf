import { beforeEach, expect, it, vi } from 'vitest';
import { LOAD_LIMITS, loopGauge } from '../../../shared/load.ts';
import { askModel } from '../gateway.ts';
import { GATHERING_LIMITS } from '../gathering.ts';
import { SlowUpstream } from './slow-upstream.ts';
import { targetOf } from './target.ts';

const REQUEST = { model: 'm', messages: [], tools: [] };
const WINDOW_MS = 100;

beforeEach(() => {
  vi.useFakeTimers();
  // The gauge is shared by all files of a process, and this machine may really be late.
  vi.spyOn(loopGauge, 'coalesceMs', 'get').mockReturnValue(LOAD_LIMITS.minCoalesceMs);
});

it('shows each piece at once while the machine is at ease', async () => {
  const { upstream, shown } = ask();
  for (const word of ['a', 'b', 'c']) await upstream.send(says(word));
  expect(shown).toEqual(['a', 'b', 'c']);
});

it('shows what comes on a busy machine once in each window, and the first piece at once', async () => {
  busy();
  const { upstream, shown } = ask();
  for (const word of ['a', 'b', 'c']) await upstream.send(says(word));
  expect(shown).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(WINDOW_MS);
  expect(shown).toEqual(['a', 'bc']);
  await upstream.send(says('d'));
  expect(shown).toEqual(['a', 'bc']);
  await vi.advanceTimersByTimeAsync(WINDOW_MS);
  await vi.advanceTimersByTimeAsync(WINDOW_MS);
  await upstream.send(says('e'));
  expect(shown).toEqual(['a', 'bc', 'd', 'e']);
});

it('lets no more wait than one turn can handle', async () => {
  busy();
  const { upstream, shown } = ask();
  const long = 'x'.repeat(GATHERING_LIMITS.maxBytes);
  await upstream.send(says('a'));
  await upstream.send(says(long));
  expect(shown).toEqual(['a', long]);
});

it('keeps the end of an answer waiting for no window', async () => {
  busy();
  const { upstream, answer } = ask();
  await upstream.send(says('a'));
  await upstream.send(`${says('b')}data: [DONE]\n\n`);
  upstream.end();
  expect((await answer).reply).toMatchObject({ outcome: 'completed', text: 'ab' });
  expect(vi.getTimerCount()).toBe(0);
});

it('ends an answer that is said, also where its connection is held', async () => {
  busy();
  const { upstream, answer } = ask();
  await upstream.send(says('a'));
  await upstream.send(`${says('b')}data: [DONE]\n\n`);
  await vi.advanceTimersByTimeAsync(WINDOW_MS);
  expect((await answer).reply).toMatchObject({ outcome: 'completed', text: 'ab' });
});

it('throws what its listener throws behind a window', async () => {
  busy();
  const { upstream, answer } = ask((text) => {
    if (text === 'b') throw new Error('ours');
  });
  const failed = expect(answer).rejects.toThrow('ours');
  await upstream.send(says('a'));
  await upstream.send(says('b'));
  await vi.advanceTimersByTimeAsync(WINDOW_MS);
  await failed;
});

it('drops what waits when it is cancelled', async () => {
  busy();
  const { upstream, answer, shown, leaving } = ask();
  const failed = expect(answer).rejects.toThrow('cancelled');
  await upstream.send(says('a'));
  await upstream.send(says('b'));
  leaving.abort(new Error('cancelled'));
  await failed;
  expect(shown).toEqual(['a']);
  expect(vi.getTimerCount()).toBe(0);
});

function busy(): void {
  vi.spyOn(loopGauge, 'coalesceMs', 'get').mockReturnValue(WINDOW_MS);
  // It would leave a timer of its own.
  vi.spyOn(loopGauge, 'probe').mockReturnValue();
}

function says(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
}

/** A request whose upstream has answered with headers; `shown` has the text of each call of its listener. */
function ask(onText?: (text: string) => void) {
  const upstream = new SlowUpstream();
  vi.spyOn(globalThis, 'fetch').mockImplementation((_, init) => upstream.answer(init?.signal));
  const shown: string[] = [];
  const leaving = new AbortController();
  const answer = askModel(
    targetOf(),
    REQUEST,
    (parts) => {
      const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
      shown.push(text);
      onText?.(text);
    },
    leaving.signal,
  );
  upstream.open();
  return { upstream, answer, shown, leaving };
}
