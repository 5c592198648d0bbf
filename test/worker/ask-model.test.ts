import { afterEach, expect, it, vi } from 'vitest';
import { resolveTarget } from '../../packages/model/index.ts';
import { askCounted } from '../../worker/ask-model.ts';

afterEach(() => vi.restoreAllMocks());

it('the log says why a server was not reached', async () => {
  const log = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('no route'));
  const target = resolveTarget('big', {
    OPENAI_BASE_URL: 'http://model.test/v1',
    OPENAI_MODEL: 'big',
    OPENAI_API_KEY: 'key-of-tests',
  });
  const request = { model: 'big', messages: [{ role: 'user' as const, content: 'hi' }], tools: [] };
  const { reply } = await askCounted(target, request, () => {}, new AbortController().signal);
  expect(reply.outcome).toBe('error');
  expect(log.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
    {
      time: expect.any(String),
      level: 'warn',
      event: 'upstream_unreachable',
      model: 'big',
      message: 'TypeError: no route',
    },
  ]);
});
