import { afterEach, expect, it, vi } from 'vitest';
import { askModel } from '../../../worker/upstream/gateway.ts';
import type { ReplyPart } from '../../../worker/upstream/reader.ts';
import { targetOf } from './target.ts';

const REQUEST = { model: 'm', messages: [], tools: [] };
const TEXT = 'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n';

afterEach(() => vi.restoreAllMocks());

it.each([
  [{ message: 'Overloaded', type: 'overloaded_error' }, { afterMs: null }],
  [{ message: 'Slow down', code: 'rate_limit_exceeded' }, { afterMs: null }],
  [{ message: 'Sorry', type: 'server_error', code: null }, { afterMs: null }],
  [{ message: 'Sorry', code: 502 }, { afterMs: null }],
  [{ message: 'No', type: 'server_error', code: 400 }, null],
  [{ message: 'No', type: 'invalid_request_error' }, null],
])('the error %j under HTTP 200 is worth another attempt: %j', async (error, retry) => {
  const { answer } = ask([`event: error\ndata: ${JSON.stringify({ error })}\n\n`]);
  expect(await answer).toMatchObject({ reply: { outcome: 'error' }, retry });
});

it('does not ask in another form once something was shown', async () => {
  const refusal = 'data: {"error":{"message":"stream_options, reasoning_content","code":400}}\n\n';
  const { answer, shown } = ask([TEXT + refusal, `${TEXT}data: [DONE]\n\n`]);
  expect((await answer).reply).toMatchObject({ outcome: 'error', text: 'Hello' });
  expect(shown).toEqual([{ type: 'text', text: 'Hello' }]);
});

it('does not blame the upstream for what its listener throws', async () => {
  const { answer } = ask([TEXT], () => {
    throw new Error('ours');
  });
  await expect(answer).rejects.toThrow('ours');
});

it('throws what its signal says, also where no answer has come yet', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(
    (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  );
  const leaving = new AbortController();
  const answer = askModel(targetOf(), REQUEST, () => {}, leaving.signal);
  const reason = new Error('cancelled');
  leaving.abort(reason);
  await expect(answer).rejects.toBe(reason);
});

/** A request whose attempts get these bodies, each a stream. */
function ask(bodies: readonly string[], onParts?: () => never) {
  const shown: ReplyPart[] = [];
  const left = [...bodies];
  vi.spyOn(globalThis, 'fetch').mockImplementation(
    async () =>
      new Response(left.shift() ?? '', { headers: { 'content-type': 'text/event-stream' } }),
  );
  const show = (parts: readonly ReplyPart[]) => void shown.push(...parts);
  const answer = askModel(targetOf(), REQUEST, onParts ?? show, new AbortController().signal);
  return { answer, shown };
}
