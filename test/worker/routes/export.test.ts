import { afterEach, expect, it, vi } from 'vitest';
import { ConversationExport } from '../../../shared/conversations.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';

afterEach(() => vi.restoreAllMocks());

it('gives a conversation as JSON, to be kept as a file', async () => {
  const conversationId = await conversation();
  const response = await call(`conversations/${conversationId}/export`);
  const body = await response.json();
  const { conversation: exported, ...rest } = ConversationExport.parse(body);
  expect(body).toEqual({ ...rest, conversation: exported });
  expect(exported).toEqual(await (await call(`conversations/${conversationId}`)).json());
  expect(response.headers.get('content-disposition')).toContain('filename="Say-hello.json"');
});

it('gives a conversation as Markdown, to be kept as a file', async () => {
  const conversationId = await conversation();
  const response = await call(`conversations/${conversationId}/export?format=markdown`);
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  expect(response.headers.get('content-disposition')).toContain('filename="Say-hello.md"');
  const text = await response.text();
  expect(text).toContain('# Say hello\n');
  expect(text).toContain('> Say hello\n');
  expect(text).toContain('\nHello.\n\n```js\nlet a;\n```\n');
});

it('knows no other format, and no conversation of others', async () => {
  const conversationId = await conversation();
  const path = `conversations/${conversationId}/export`;
  expect(await errorOf(await call(`${path}?format=pdf`))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
  });
  expect((await call(path, { account: 'eve' })).status).toBe(404);
});

async function conversation(): Promise<string> {
  scriptModel(() => ({ text: 'Hello.\n\n```js\nlet a;\n```\n' }));
  return (await chat('Say hello')).conversationId;
}
