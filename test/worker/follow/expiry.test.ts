import { expect, it, vi } from 'vitest';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { call, chat, errorOf, scriptModel, tokenFor } from '../api.ts';
import { askStreamed } from '../conversation/conversing.ts';
import { holdModel, textFrame } from '../conversation/held-model.ts';
import { openSocket } from './socket-reader.ts';
import { SseReader } from './sse-reader.ts';
import { followersOf, quicken } from './watching.ts';

it('a stream and a socket end with their token, and neither comes back with it', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const path = `conversations/${conversationId}/events`;
  const headers = { authorization: `Bearer ${await tokenFor({ expires: '1m' })}` };
  const stream = new SseReader(await call(path, { headers }));
  const socket = await openSocket(path, { headers });
  const lasting = await openSocket(path);
  await stream.untilType('done');
  await socket.untilType('done');
  vi.setSystemTime(Date.now() + 61_000);
  await stream.toEnd();
  expect(await socket.toClose()).toEqual({ code: 4001, reason: 'the token has ended' });
  vi.useRealTimers();
  // The third reader, whose token lasts, is the only one left: no adapter has attached again.
  await new Promise((resolve) => setTimeout(resolve, 2 * FOLLOW_LIMITS.reattachMs));
  expect(await followersOf(conversationId)).toBe(1);
  expect(lasting.closed).toBeUndefined();
  await lasting.leave();
});

it('a stream that a ticket opened ends with the token that the ticket was made for', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const headers = { authorization: `Bearer ${await tokenFor({ expires: '1m' })}` };
  const asked = await call('tickets', { body: { conversationId }, headers });
  const { ticket } = await asked.json<{ ticket: string }>();
  const path = `conversations/${conversationId}/events?ticket=${ticket}`;
  const socket = await openSocket(path, { headers: {} });
  await socket.untilType('done');
  vi.setSystemTime(Date.now() + 61_000);
  expect(await socket.toClose()).toMatchObject({ code: 4001 });
});

it('the stream of a message ends with its token; the answer goes on, and a new token reads it', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  const model = holdModel();
  const headers = { authorization: `Bearer ${await tokenFor({ expires: '1m' })}` };
  const body = { messages: [{ role: 'user', content: 'hi' }], stream: true };
  const sent = await call('chat/completions', { body, headers });
  const stream = new SseReader(sent);
  const reply = await model.next();
  reply.send(textFrame('One'));
  await stream.untilText('One');
  vi.setSystemTime(Date.now() + 61_000);
  expect((await stream.toEnd()).some(({ event }) => event.type === 'done')).toBe(false);
  const path = `chat/completions/${sent.headers.get('Drawbridge-Response-Id')}/events`;
  expect(await errorOf(await call(path, { headers }))).toMatchObject({ code: 'UNAUTHENTICATED' });
  vi.useRealTimers();
  reply.answer({ text: ' two' });
  const back = new SseReader(await call(path));
  expect((await back.toEnd()).at(-1)?.event).toMatchObject({ type: 'done', status: 'completed' });
});

it('a stream whose token lasts is not touched', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  holdModel();
  const { reader } = await askStreamed();
  await reader.readOnce();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await reader.readOnce()).toBe(true);
  await reader.leave();
});
