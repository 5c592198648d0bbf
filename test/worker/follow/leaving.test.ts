import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { followAsSocket } from '../../../worker/follow/socket-adapter.ts';
import { followAsSse } from '../../../worker/follow/sse-adapter.ts';
import { call, chat, scriptModel, tokenFor } from '../api.ts';
import { BEFORE_HEARTBEAT, followersOf, quicken } from './watching.ts';

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
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

it('holds no socket for a HEAD, which no one reads', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('hello');
  const path = `conversations/${conversationId}/events`;
  const response = await call(path, { method: 'HEAD' });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

it.each<[string, typeof followAsSse | typeof followAsSocket]>([
  ['SSE', followAsSse],
  ['WebSocket', followAsSocket],
])('frees the socket of a reader by %s that leaves while it is attached', async (_, follow) => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('hello');
  const leaving = new AbortController();
  const following = followDirectly(conversationId, follow, leaving.signal);
  leaving.abort();
  await following;
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

it('frees the socket of a reader that is gone, although no signal says so', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 20 });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('hello');
  const { body } = await followDirectly(conversationId, followAsSse);
  expect(await followersOf(conversationId)).toBe(1);
  await body?.cancel();
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

function followDirectly(
  conversationId: string,
  follow: typeof followAsSse | typeof followAsSocket,
  signal = new AbortController().signal,
): Promise<Response> {
  const caller = { account: 'ada', conversationId };
  const followed = { caller, responseId: null, framing: 'named', cursor: 0 } as const;
  return follow(new Request('https://drawbridge.test/', { signal }), env, followed);
}
