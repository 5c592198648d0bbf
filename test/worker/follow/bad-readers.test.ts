import { evictDurableObject, runInDurableObject, SELF } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { formatEvents } from '../../../shared/api/reader-socket.ts';
import { newConversationId } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { ReaderSocket } from '../../../worker/follow/reader-socket.ts';
import { call, chat, scriptModel, tokenFor } from '../api.ts';
import {
  askStreamed,
  cancel,
  conversationObject,
  type Streamed,
} from '../conversation/conversing.ts';
import { endFrames, type HeldReply, holdModel, textFrame } from '../conversation/held-model.ts';
import { ConversationWriter } from '../conversation/long-conversation.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import { comeBack, crowd } from './many-readers.ts';
import { openSocket } from './socket-reader.ts';
import { SseReader, textOf, unitsOf } from './sse-reader.ts';
import { BEFORE_HEARTBEAT, dropFollowers, followersOf, quicken } from './watching.ts';

const PIECE = 'x'.repeat(FOLLOW_LIMITS.resumeChars - 1000);

const GARBAGE: readonly [what: string, data: string | ArrayBuffer, code: number][] = [
  ['text', 'hello', 1008],
  ['nothing', '', 1008],
  ['half of a JSON text', '{"ack":', 1008],
  ['another JSON value', '[1]', 1008],
  ['null', 'null', 1008],
  ['an ack of nothing', '{}', 1008],
  ['an ack below zero', '{"ack":-1}', 1008],
  ['an ack between two positions', '{"ack":1.5}', 1008],
  ['an ack in words', '{"ack":"1"}', 1008],
  ['an ack with more beside it', '{"ack":1,"more":1}', 1008],
  ['an ack of what was never sent', `{"ack":${Number.MAX_SAFE_INTEGER}}`, 1008],
  ['an ack of no integer', '{"ack":1e300}', 1008],
  ['bytes', new Uint8Array([1, 2, 3]).buffer, 1003],
  ['too long a text', `{"ack":1${' '.repeat(FOLLOW_LIMITS.maxAckChars)}}`, 1009],
  ['a very long text', 'x'.repeat(1_000_000), 1009],
];

it.each(GARBAGE)('closes a socket that sends %s, and no other', async (_, data, code) => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const path = `conversations/${conversationId}/events`;
  const good = await openSocket(path);
  const bad = await openSocket(path);
  await bad.untilType('done');
  bad.send(data);
  const closed = await bad.toClose();
  expect(closed.code).toBe(code);
  expect(closed.reason).not.toBe('');
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(1), BEFORE_HEARTBEAT);
  await chat('two', { conversationId });
  await good.until((events) => events.filter(({ event }) => event.type === 'done').length === 2);
  await good.leave();
});

it('hears nothing of what comes behind the first bad message', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const socket = await openSocket(`conversations/${conversationId}/events`);
  for (const data of ['x', new ArrayBuffer(3), '{"ack":1}', 'y'.repeat(100_000)]) socket.send(data);
  expect((await socket.toClose()).code).toBe(1008);
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

// `test:deep` has a thousand come, and each come back fifty times.
it('keeps nothing of two hundred readers that come, read and leave', async () => {
  await crowd(2);
});

it.each<[transport: string, join: (path: string) => Promise<() => Promise<void> | void>]>([
  ['WebSocket', joinBySocket],
  ['SSE', joinByStream],
])(
  'keeps nothing of readers by %s that leave while their adapters attach again',
  async (_, join) => {
    const { heartbeatMs, maxLifeMs, reattachMs } = FOLLOW_LIMITS;
    const timers = quicken({ [heartbeatMs]: heartbeatMs, [maxLifeMs]: maxLifeMs });
    scriptModel(() => ({ text: 'hi' }));
    const { conversationId } = await chat('one');
    const path = `conversations/${conversationId}/events`;
    const readers = await Promise.all(Array.from({ length: 100 }, () => join(path)));
    await dropFollowers(conversationId);
    // Some leave before, some while and some after the object is asked again.
    const leaving = readers.map(async (leave, index) => {
      await new Promise((resolve) => setTimeout(resolve, reattachMs - 50 + index));
      await leave();
    });
    await Promise.all(leaving);
    await vi.waitFor(
      async () => expect(await followersOf(conversationId)).toBe(0),
      BEFORE_HEARTBEAT,
    );
    expect(timers.count).toBe(0);
  },
);

it('a reader that acknowledges nothing loses the object’s socket, and then its own with 4008', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 20 });
  const { responseId, conversationId, reply } = await longAnswer();
  const socket = await openSocket(`chat/completions/${responseId}/events`, { acks: false });
  const settle = () =>
    new Promise((resolve) =>
      setTimeout(resolve, 2 * FOLLOW_LIMITS.reattachMs + FOLLOW_LIMITS.paceMs),
    );
  await sendUntilLetGo(reply, conversationId);
  await settle(); // What came before is held for a pace.
  const sent = socket.events.length;
  reply.send(textFrame(PIECE), textFrame(PIECE));
  await settle();
  expect([socket.events.length, socket.closed]).toEqual([sent, undefined]);
  expire();
  expect(await socket.toClose()).toEqual({ code: 4008, reason: 'nothing was acknowledged' });
  expect(await followersOf(conversationId)).toBe(0);
});

it('a reader that acknowledges nothing gets the rest with its acks, nothing lost and nothing twice', async () => {
  const { responseId, conversationId, reply } = await longAnswer();
  const path = `chat/completions/${responseId}/events`;
  const socket = await openSocket(path, { acks: false });
  await sendUntilLetGo(reply, conversationId);
  reply.send(textFrame('The end.'), ...endFrames('stop'));
  const acking = setInterval(() => socket.ack(), 20);
  const events = await socket.toEnd();
  clearInterval(acking);
  const whole = await new SseReader(await call(path)).toEnd();
  expect(textOf(events).endsWith('The end.')).toBe(true);
  expect(unitsOf(events)).toEqual(unitsOf(whole));
});

it('a reader that acknowledges nothing is not sent a long past at once, and gets all of it with its acks', async () => {
  const { path, account, conversationId } = await longPast();
  const socket = await openSocket(path, { account, acks: false });
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
  const sent = JSON.stringify(socket.messages).length;
  expect(sent).toBeLessThan(2 * CONVERSATION_LIMITS.maxShownBytes);
  const acking = setInterval(() => socket.ack(), 20);
  const events = await socket.toEnd();
  clearInterval(acking);
  const whole = await new SseReader(await call(path, { account })).toEnd();
  expect(textOf(whole)).toHaveLength(PAST_DOCUMENTS * PIECE.length);
  expect(textOf(events) === textOf(whole)).toBe(true);
  expect(events.at(-1)).toEqual(whole.at(-1));
});

it('a reader that acknowledges nothing has not stalled while acks come, and is caught up when little is left', async () => {
  const { 0: client, 1: server } = new WebSocketPair();
  client.accept();
  const reader = new ReaderSocket(server, 0);
  const delta = { type: 'content_delta', documentId: 'doc_001', delta: PIECE } as const;
  for (const position of [1, 2, 3, 4]) reader.send(formatEvents([{ event: delta, position }]));
  const caughtUp = vi.fn();
  reader.drained().then(caughtUp);
  const sent = reader.buffered;
  const { stalledMs } = FOLLOW_LIMITS;
  shiftClock(stalledMs);
  expect(reader.stalledForMs).toBeGreaterThanOrEqual(stalledMs);
  client.send('{"ack":1}');
  await vi.waitFor(() => expect(reader.buffered).toBeLessThan(sent));
  expect(reader.stalledForMs).toBeLessThan(stalledMs);
  expect(caughtUp).not.toHaveBeenCalled();
  client.send('{"ack":3}');
  await vi.waitFor(() => expect(caughtUp).toHaveBeenCalled());
});

it('a reader that acknowledges nothing is not kept by acks of what it had acknowledged before', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 20 });
  const { responseId, conversationId, reply } = await longAnswer();
  const socket = await openSocket(`chat/completions/${responseId}/events`, { acks: false });
  await socket.untilType('response_start');
  const ack = JSON.stringify({ ack: socket.events.at(-1)?.id });
  socket.send(ack);
  await sendUntilLetGo(reply, conversationId);
  expire();
  socket.send(ack);
  expect((await socket.toClose()).code).toBe(4008);
});

it('a reader that acknowledges nothing is not disturbed as long as little waits', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 20 });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const path = `conversations/${conversationId}/events`;
  const socket = await openSocket(path, { acks: false });
  await socket.untilType('done');
  const beats = socket.messages.length;
  expire();
  await vi.waitFor(() => expect(socket.messages.length).toBeGreaterThan(beats + 3));
  await socket.leave();
});

it('a stream that no one reads loses the object’s socket, and ends', async () => {
  const timers = quicken({ [FOLLOW_LIMITS.heartbeatMs]: 20 });
  const { conversationId, reply, reader } = await longAnswer();
  await sendUntilLetGo(reply, conversationId);
  expect(timers.count).toBeGreaterThan(0);
  expire();
  await vi.waitFor(() => expect(timers.count).toBe(0), BEFORE_HEARTBEAT);
  await expect(reader.toEnd()).rejects.toThrow();
});

it('gives the same to readers that come back with old cursors again and again', async () => {
  await comeBack(10);
});

it('a run cancelled twice ends once for its readers', async () => {
  const { responseId, reader, reply } = await longAnswer();
  const socket = await openSocket(`chat/completions/${responseId}/events`);
  await Promise.all([cancel(responseId), cancel(responseId)]);
  await cancel(responseId);
  await reply.untilAborted();
  for (const events of [await socket.toEnd(), await reader.toEnd()]) {
    const ends = events.filter(({ event }) => event.type === 'done');
    expect(ends.map(({ event }) => event)).toMatchObject([{ status: 'cancelled' }]);
  }
});

it('a conversation deleted under its readers ends all of them, and their run', async () => {
  const { responseId, conversationId, reader, reply } = await longAnswer();
  const sockets = [
    await openSocket(`chat/completions/${responseId}/events`),
    await openSocket(`conversations/${conversationId}/events`),
  ];
  reply.send(textFrame('Beginning'));
  for (const one of [...sockets, reader]) {
    await one.until((events) => textOf(events) === 'Beginning');
  }
  expect((await call(`conversations/${conversationId}`, { method: 'DELETE' })).status).toBe(204);
  await reply.untilAborted();
  for (const socket of sockets) {
    expect(await socket.toClose()).toEqual({ code: 4004, reason: 'deleted' });
  }
  const events = await reader.toEnd();
  expect(events.map(({ event }) => event.type)).not.toContain('done');
});

async function joinBySocket(path: string): Promise<() => Promise<void>> {
  const socket = await openSocket(path);
  await socket.untilType('done');
  return () => socket.leave();
}

async function joinByStream(path: string): Promise<() => void> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const headers = { authorization: `Bearer ${await tokenFor()}` };
  const stream = await SELF.fetch(`https://drawbridge.test/api/v1/${path}`, { headers, signal });
  await new SseReader(stream).untilType('done');
  return () => leaving.abort();
}

/** A response whose text the test writes. */
async function longAnswer(): Promise<Streamed & { readonly reply: HeldReply }> {
  const model = holdModel();
  const streamed = await askStreamed();
  return { ...streamed, reply: await model.next() };
}

const PAST_DOCUMENTS = 16;

/** A response that has finished, of several times what is shown of a conversation at once. */
async function longPast(): Promise<{ path: string; account: string; conversationId: string }> {
  const account = 'long-past';
  const conversationId = newConversationId(crypto.randomUUID());
  const path = await runInDurableObject(conversationObject(conversationId), (_, { storage }) => {
    const writer = new ConversationWriter(storage.sql, conversationId, account);
    writer.say(1, 'Much');
    writer.start(1);
    for (let sequence = 1; sequence <= PAST_DOCUMENTS; sequence++)
      writer.answer(1, PIECE, sequence);
    writer.end(1, 'completed');
    return `chat/completions/${writer.idOf(1)}/events`;
  });
  await evictDurableObject(conversationObject(conversationId));
  return { path, account, conversationId };
}

/** Writes until every adapter has let go of the object's socket: none of the readers takes anything. */
async function sendUntilLetGo(reply: HeldReply, conversationId: string): Promise<void> {
  for (let piece = 0; piece < 20 && (await followersOf(conversationId)) > 0; piece++) {
    reply.send(textFrame(PIECE));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  expect(await followersOf(conversationId)).toBe(0);
}

/** The clock goes on, far enough for a stalled reader to be given up. */
function expire(): void {
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + FOLLOW_LIMITS.stalledMs + 1000);
}
