import { expect, it, vi } from 'vitest';
import { askModel } from '../gateway.ts';
import type { ReplyPart } from '../reader.ts';
import { targetOf } from './target.ts';

const REQUEST = { model: 'm', messages: [], tools: [] };
const TEXT = 'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n';

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

it.each([
  ['chat', 'chat/completions', { authorization: 'Bearer sk-test' }],
  ['responses', 'responses', { authorization: 'Bearer sk-test' }],
  ['anthropic', 'messages', { 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' }],
] as const)('the dialect %s has its path and its headers', async (dialect, path, headers) => {
  const sent = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(''));
  await askModel(targetOf({ dialect }), REQUEST, () => {}, new AbortController().signal);
  expect(sent.mock.calls[0]?.[0]).toBe(`http://model.test/v1/${path}`);
  const common = { 'content-type': 'application/json', accept: 'text/event-stream' };
  expect(sent.mock.calls[0]?.[1]?.headers).toEqual({ ...common, ...headers });
});

it.each([
  ['anthropic', 400, 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['anthropic', 400, 'messages.1.content.0.thinking.signature: Field required'],
  ['anthropic', 400, 'messages.3.content.8: `thinking` blocks cannot be modified.'],
  ['anthropic', 400, 'messages.1.content.0.type: Expected `thinking`, but found `tool_use`.'],
  ['responses', 400, 'The encrypted content gAAA could not be verified.'],
  ['responses', 400, 'Encrypted content is not supported with this model.'],
  ['responses', 400, "'rs_1' of type 'reasoning' came without its required following item."],
  ['responses', 404, "Item 'rs_1' not found. Items are not persisted when `store` is false."],
  ['responses', 400, "Unknown parameter: 'input[3].metadata'."],
  ['responses', 400, "Invalid 'input[3].content': array too long. Expected a length of 0."],
  ['responses', 400, "Referenced reasoning item 'rs_1' was not found or has expired."],
] as const)(
  'the dialect %s asks without thoughts where they are refused: %i %s',
  async (dialect, status, message) => {
    const bodies: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      bodies.push(String(init?.body));
      return Response.json({ error: { message } }, { status });
    });
    const details = [{ dialect, model: 'big', place: 0, item: { type: 'mine' } }];
    const calls = [
      { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } },
    ];
    const said = { role: 'assistant' as const, reasoning_details: details, tool_calls: calls };
    const request = { ...REQUEST, messages: [said] };
    const { signal } = new AbortController();
    const answer = await askModel(targetOf({ dialect }), request, () => {}, signal);
    expect(answer.reply).toMatchObject({ outcome: 'error', error: { status } });
    expect(bodies.map((body) => body.includes('"mine"'))).toEqual([true, false]);
  },
);

it.each([
  'Encrypted content is not supported with this model.',
  "Unknown parameter: 'include'.",
  "Invalid value: 'reasoning.encrypted_content'. Supported values of include[0] are: 'x'.",
  'Extra inputs are not permitted: include',
])('the dialect of Responses remembers per model a server that says: %s', async (message) => {
  const asked: boolean[] = [];
  const done = { type: 'response.completed', response: { status: 'completed', output: [] } };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const hasInclude = 'include' in JSON.parse(String(init?.body));
    asked.push(hasInclude);
    if (hasInclude) return Response.json({ error: { message } }, { status: 400 });
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`data: ${JSON.stringify(done)}\n\n`, { headers });
  });
  const ask = (upstreamId: string) => {
    const target = targetOf({ dialect: 'responses', upstreamId });
    return askModel(target, REQUEST, () => {}, new AbortController().signal);
  };
  for (const model of [`a ${message}`, `a ${message}`, `b ${message}`]) {
    expect((await ask(model)).reply.error).toBeNull();
  }
  expect(asked).toEqual([true, false, false, true, false]);
});

it.each([
  ['anthropic', 'authentication_error', 'invalid x-api-key'],
  ['responses', 'invalid_request_error', 'Incorrect API key provided: sk-test'],
] as const)(
  'the dialect %s describes a refused key without the key',
  async (dialect, type, message) => {
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
      Response.json({ type: 'error', error: { type, message } }, { status: 401 }),
    );
    const { signal } = new AbortController();
    const { reply, retry } = await askModel(targetOf({ dialect }), REQUEST, () => {}, signal);
    expect(reply.error?.message).toContain('refuses access with the configured key (HTTP 401)');
    expect(retry).toBeNull();
  },
);

it('an overload of Anthropic in the middle is worth another attempt, elsewhere at once', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const { answer } = ask([`event: error\ndata: ${JSON.stringify(error)}\n\n`], undefined, {
    dialect: 'anthropic',
  });
  expect(await answer).toMatchObject({ retry: { afterMs: null }, fallback: 'at_once' });
});

/** A request whose attempts get these bodies, each a stream. */
function ask(
  bodies: readonly string[],
  onParts?: () => never,
  changes: Parameters<typeof targetOf>[0] = {},
) {
  const shown: ReplyPart[] = [];
  const left = [...bodies];
  vi.spyOn(globalThis, 'fetch').mockImplementation(
    async () =>
      new Response(left.shift() ?? '', { headers: { 'content-type': 'text/event-stream' } }),
  );
  const show = (parts: readonly ReplyPart[]) => void shown.push(...parts);
  const answer = askModel(
    targetOf(changes),
    REQUEST,
    onParts ?? show,
    new AbortController().signal,
  );
  return { answer, shown };
}
