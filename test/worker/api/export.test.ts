import { expect, it } from 'vitest';
import { ConversationExport } from '../../../shared/api/conversations.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { inTurns, turnOf } from '../../../worker/account/heavy-work.ts';
import { HEAVY_LIMITS } from '../../../worker/account/limits.ts';
import { fileOf } from '../../../worker/api/export.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { writeLong } from '../conversation/long-conversation.ts';
import { newAccount } from '../people/people.ts';

it('gives a conversation as JSON, to be kept as a file', async () => {
  const conversationId = await conversation();
  const response = await call(`conversations/${conversationId}/export`);
  const body = await response.json();
  const { conversation: exported, ...rest } = ConversationExport.parse(body);
  expect(body).toEqual({ ...rest, conversation: exported });
  const view = await (await call(`conversations/${conversationId}`)).json();
  expect(view).toEqual({ ...exported, earlier: null, position: expect.any(Number) });
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

it('breaks off where the conversation is deleted meanwhile', async () => {
  const long = await writeLong(10, () => CONVERSATION_LIMITS.maxShownBytes);
  const path = `conversations/${long.conversationId}`;
  const exported = await call(`${path}/export`, long);
  expect(exported.status).toBe(200);
  expect((await call(path, { ...long, method: 'DELETE' })).status).toBe(204);
  await expect(exported.text()).rejects.toThrow();
});

it('is not made ahead of its reader, and holds no turn meanwhile', async () => {
  const account = newAccount();
  let made = 0;
  async function* parts() {
    for (; made < 3; ) yield `part ${++made}`;
  }
  const body = fileOf(inTurns(account, parts()), {}).body?.getReader();
  await scheduler.wait(3 * HEAVY_LIMITS.restMs);
  expect(made).toBe(0);
  await body?.read();
  await scheduler.wait(3 * HEAVY_LIMITS.restMs);
  expect(made).toBe(1);
  (await turnOf(account))[Symbol.dispose](); // The reader may never read on.
  await body?.cancel();
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
