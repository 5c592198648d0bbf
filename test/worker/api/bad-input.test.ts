import { SELF } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { streamOf } from '../../far-ends/reply-script.ts';
import { ask, call, chat, errorOf, scriptModel, tokenFor } from '../api.ts';

const messages = [{ role: 'user', content: 'hello' }];

describe('a chat request is refused with a code and the offending field', () => {
  it.each<[string, unknown, string, string]>([
    ['text that is no JSON', '{"messages": [', 'INVALID_JSON', 'The body is not valid JSON'],
    ['no object', '[]', 'INVALID_REQUEST', 'expected object'],
    ['no messages', {}, 'INVALID_REQUEST', 'messages: '],
    ['an empty list of messages', { messages: [] }, 'INVALID_REQUEST', 'messages: '],
    [
      'an empty message',
      { messages: [{ role: 'user', content: ' ' }] },
      'INVALID_REQUEST',
      'messages: The last message must not be empty',
    ],
    [
      'a last message that is not the user’s',
      { messages: [{ role: 'assistant', content: 'x' }] },
      'INVALID_REQUEST',
      'messages: The last message must have the role user',
    ],
    [
      'a role that does not exist',
      { messages: [{ role: 'boss', content: 'x' }] },
      'INVALID_REQUEST',
      'messages[0].role: ',
    ],
    [
      'content of a wrong type',
      { messages: [{ role: 'user', content: 7 }] },
      'INVALID_REQUEST',
      'messages[0].content: ',
    ],
    ['a mode that does not exist', { messages, mode: 'yolo' }, 'UNKNOWN_MODE', 'mode: '],
    ['a mode that cannot exist', { messages, mode: 'Yolo!' }, 'INVALID_REQUEST', 'mode: '],
    [
      'a tool that does not exist',
      { messages, tools: ['read_file', 'format_disk'] },
      'INVALID_REQUEST',
      'tools.format_disk: There is no tool named "format_disk"',
    ],
    [
      'an id of a wrong form',
      { messages, conversationId: '../etc' },
      'INVALID_REQUEST',
      'conversationId: ',
    ],
    ['a stream that is no boolean', { messages, stream: 'yes' }, 'INVALID_REQUEST', 'stream: '],
  ])('%s', async (_, body, code, message) => {
    const error = await errorOf(await call('chat/completions', { body }));
    expect(error).toMatchObject({ status: 400, code, message: expect.stringContaining(message) });
  });

  it('refuses a body over the limit', async () => {
    const error = await errorOf(await ask('x'.repeat(REQUEST_LIMITS.maxBodyBytes)));
    expect(error).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  });

  it('refuses a message over the limit', async () => {
    const error = await errorOf(await ask('x'.repeat(REQUEST_LIMITS.maxMessageChars + 1)));
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining('messages[0].content'),
    });
  });
});

describe('answers 401 without a good token', () => {
  it.each<[string, () => Promise<string | undefined>]>([
    ['no token', async () => undefined],
    ['another scheme', async () => 'Basic YTpi'],
    ['a token that is no JWT', async () => 'Bearer abc'],
    [
      'a token signed with another secret',
      async () => `Bearer ${await tokenFor({ secret: btoa('x'.repeat(40)) })}`,
    ],
    ['a token that has expired', async () => `Bearer ${await tokenFor({ expires: '-1m' })}`],
    ['a token without a scope', async () => `Bearer ${await tokenFor({ claims: {} })}`],
    [
      'a token that signs nothing',
      async () => `Bearer ${btoa('{"alg":"none"}')}.${btoa('{"sub":"ada","scope":"user"}')}.`,
    ],
  ])('%s', async (_, header) => {
    const authorization = await header();
    for (const path of [
      'api/v1/chat/completions',
      'api/v1/nowhere',
      '',
      'cdn-cgi/explorer/api',
      'cdn-cgi/handler/scheduled',
    ]) {
      const response = await SELF.fetch(`https://drawbridge.test/${path}`, {
        headers: authorization ? { authorization } : {},
      });
      expect([path, response.status]).toEqual([path, 401]);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('refuses a bridge’s token for a user’s path', async () => {
    const bridge = 'bridge_00000000-0000-4000-8000-000000000000';
    const token = await tokenFor({ claims: { scope: 'bridge', bridge } });
    const response = await call('conversations/x', {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await errorOf(response)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });
});

describe('what does not exist, and what belongs to someone else, look the same', () => {
  it.each([
    'conversations/conv_11111111-1111-4111-8111-111111110000',
    'conversations/conv_11111111-1111-4111-8111-111111110000/events',
    'conversations/nonsense',
    'chat/completions/chat_11111111-1111-4111-8111-111111110001',
    'chat/completions/chat_11111111-1111-4111-8111-111111110001/events',
    'chat/completions/nonsense/events',
    'nowhere',
  ])('GET %s', async (path) => {
    expect(await errorOf(await call(path))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('answers for a conversation of another account as for an unknown one', async () => {
    scriptModel(() => ({ text: 'secret' }));
    const { id, conversationId } = await chat('hello');
    const unknown = await errorOf(
      await call('conversations/conv_11111111-1111-4111-8111-111111110000'),
    );
    expect(
      await errorOf(await call(`conversations/${conversationId}`, { account: 'eve' })),
    ).toEqual(unknown);
    for (const path of [
      `chat/completions/${id}`,
      `chat/completions/${id}/events`,
      `conversations/${conversationId}/events`,
    ]) {
      expect((await call(path, { account: 'eve' })).status).toBe(404);
    }
    const cancel = await call(`chat/completions/${id}/cancel`, { account: 'eve', method: 'POST' });
    expect(cancel.status).toBe(404);
    const more = { messages, conversationId };
    expect((await call('chat/completions', { account: 'eve', body: more })).status).toBe(404);
  });
});

describe('a bad cursor', () => {
  it.each(['-1', '1e3', 'abc', '99999999999999999999', '1048576000'])(
    '?after=%s',
    async (after) => {
      scriptModel(() => ({ text: 'hi' }));
      const { conversationId } = await chat('hello');
      const error = await errorOf(
        await call(`conversations/${conversationId}/events?after=${after}`),
      );
      expect(error.status).toBe(400);
      expect(error.message).toContain('after');
    },
  );
});

describe('an upstream that fails ends in an error document and leaves the conversation usable', () => {
  const html = () =>
    new Response('<html><body>Bad gateway</body></html>', {
      status: 502,
      headers: { 'content-type': 'text/html' },
    });
  it.each<[string, () => Response | Promise<Response>, string]>([
    ['it is down', () => Promise.reject(new TypeError('connection refused')), 'UPSTREAM_ERROR'],
    ['it answers HTML', html, 'UPSTREAM_ERROR'],
    [
      'it answers garbage',
      () => streamOf(['data: {"choices": [{"delta"\n\n', 'nonsense\n\n']),
      'UPSTREAM_ERROR',
    ],
    ['it answers nothing', () => streamOf([]), 'UPSTREAM_INTERRUPTED'],
    [
      'it breaks off',
      () => streamOf(['data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'], 'fail'),
      'UPSTREAM_INTERRUPTED',
    ],
    [
      'it refuses',
      () =>
        Response.json(
          { error: { message: 'no such model', code: 'model_not_found' } },
          { status: 404 },
        ),
      'UPSTREAM_ERROR',
    ],
  ])('%s', async (_, answer, errorCode) => {
    let isBroken = true;
    scriptModel(() => (isBroken ? answer() : { text: 'fine again' }));
    const failed = await chat('hello');
    expect(failed.status).toBe('error');
    expect(failed.documents.at(-1)).toMatchObject({ type: 'error', metadata: { errorCode } });
    expect(JSON.stringify(failed)).not.toContain('<html');
    isBroken = false;
    const next = await chat('again', { conversationId: failed.conversationId });
    expect(next).toMatchObject({ status: 'completed', documents: [{ content: 'fine again' }] });
  });
});
