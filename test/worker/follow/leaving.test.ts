import { env, runInDurableObject, SELF } from 'cloudflare:test';
import { afterEach, expect, it, vi } from 'vitest';
import { call, chat, scriptModel, tokenFor } from '../api.ts';

afterEach(() => vi.restoreAllMocks());

it('frees the sockets of readers that leave', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('hello');
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${await tokenFor()}` };
  const url = `https://drawbridge.test/api/v1/conversations/${conversationId}/events`;
  const readers = await Promise.all(
    Array.from({ length: 5 }, () => SELF.fetch(url, { headers, signal: leaving.signal })),
  );
  for (const reader of readers) await reader.body?.getReader().read();
  expect(await followersOf(conversationId)).toBe(5);
  leaving.abort();
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), 4000);
});

it('holds no socket for a HEAD, which nobody reads', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('hello');
  const path = `conversations/${conversationId}/events`;
  const response = await call(path, { method: 'HEAD' });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), 4000);
});

async function followersOf(conversationId: string): Promise<number> {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(conversationId));
  return await runInDurableObject(stub, (_, state) => state.getWebSockets('follower').length);
}
