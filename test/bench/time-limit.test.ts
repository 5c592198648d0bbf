import { once } from 'node:events';
import { expect, it } from 'vitest';
import { TooLate, withinLimit } from '../../bench/time-limit.ts';

const OPEN = new AbortController().signal;
const SHORT = { maxMs: 20, graceMs: 20 };

it('a case within its limit gives its figures', async () => {
  expect(await withinLimit(() => Promise.resolve(['a']), OPEN)).toEqual(['a']);
});

it('the failure of a case is its own', async () => {
  const failing = withinLimit(() => Promise.reject(new Error('no bridge')), OPEN, SHORT);
  await expect(failing).rejects.toThrow('no bridge');
});

it('a case that waits for ever is broken off', async () => {
  const waiting = withinLimit(
    async (signal) => {
      await once(signal, 'abort');
      signal.throwIfAborted();
    },
    OPEN,
    SHORT,
  );
  await expect(waiting).rejects.toEqual(new TooLate(20, true));
});

it('a case that heeds no signal is given up', async () => {
  const deaf = withinLimit(() => new Promise(() => {}), OPEN, SHORT);
  await expect(deaf).rejects.toEqual(new TooLate(20, false));
});

it('an interruption from outside is passed on', async () => {
  const outer = new AbortController();
  const waiting = withinLimit(async (signal) => {
    await once(signal, 'abort');
    signal.throwIfAborted();
  }, outer.signal);
  outer.abort(new Error('interrupted'));
  await expect(waiting).rejects.toThrow('interrupted');
});
