import { expect, it, vi } from 'vitest';
import { formatEvents, READER_CLOSE } from '../../../shared/api/reader-socket.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { ReaderSocket } from '../../../worker/follow/reader-socket.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { askStreamed } from '../conversation/conversing.ts';
import { endFrames, holdModel, textFrame } from '../conversation/held-model.ts';
import { openSocket, upgrade } from './socket-reader.ts';
import { SseReader, textOf, unitsOf } from './sse-reader.ts';
import { BEFORE_HEARTBEAT, dropFollowers, followersOf, quicken } from './watching.ts';

it('sends a response as it comes, and closes with 1000 behind its end', async () => {
  const model = holdModel();
  const { reader, responseId } = await askStreamed();
  const reply = await model.next();
  const socket = await openSocket(`chat/completions/${responseId}/events`);
  reply.send(textFrame('Hello'));
  await socket.until((events) => textOf(events) === 'Hello');
  reply.send(textFrame(', world.'), ...endFrames('stop'));
  expect(unitsOf(await socket.toEnd())).toEqual(unitsOf(await reader.toEnd()));
  expect(socket.closed).toEqual({ code: 1000, reason: 'done' });
});

it('goes on with a conversation until its reader leaves', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const socket = await openSocket(`conversations/${conversationId}/events`);
  await socket.untilType('done');
  await chat('two', { conversationId });
  await socket.until((events) => events.filter(({ event }) => event.type === 'done').length === 2);
  expect(await followersOf(conversationId)).toBe(1);
  await socket.leave();
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

it('closes at once with 1000 for anyone who has seen a response to its end', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { id } = await chat('one');
  const path = `chat/completions/${id}/events`;
  const last = (await (await openSocket(path)).toEnd()).at(-1)?.id ?? 0;
  expect(await (await openSocket(`${path}?after=${last}`)).toEnd()).toEqual([]);
  const before = await openSocket(`${path}?after=${last - 1}`);
  expect((await before.toEnd()).map(({ event }) => event.type)).toEqual(['done']);
});

it('refuses before the upgrade, with the same answers as a stream', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('one');
  const path = `conversations/${conversationId}/events`;
  for (const [refused, status, code] of [
    [await upgrade(path, { headers: {} }), 401, 'UNAUTHENTICATED'],
    [await upgrade(path, { account: 'eve' }), 404, 'NOT_FOUND'],
    [await upgrade(`chat/completions/${id}9/events`), 404, 'NOT_FOUND'],
    [await upgrade(`${path}?after=x`), 400, 'INVALID_REQUEST'],
    [await upgrade(`${path}?after=999999999`), 400, 'INVALID_CURSOR'],
  ] as const) {
    expect(await errorOf(refused)).toMatchObject({ status, code });
  }
  expect(await followersOf(conversationId)).toBe(0);
});

it('opens with a ticket, once, for a page of an allowed origin', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { id } = await chat('one');
  const asked = await call('tickets', { body: { responseId: id } });
  const { ticket } = await asked.json<{ ticket: string }>();
  const path = `chat/completions/${id}/events?ticket=${ticket}`;
  const socket = await openSocket(path, { headers: { origin: 'https://app.test' } });
  expect((await socket.toEnd()).at(-1)?.event.type).toBe('done');
  expect(await errorOf(await upgrade(path, { headers: {} }))).toMatchObject({ status: 401 });
});

it('beats without the object: events without a position', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const socket = await openSocket(`conversations/${conversationId}/events`);
  await vi.waitFor(() => expect(socket.messages.length).toBeGreaterThan(3));
  const last = socket.messages.at(-1)?.at(-1);
  expect(last).toEqual({ event: { type: 'heartbeat' }, position: null });
  await socket.leave();
});

it('asks its reader to come back after FOLLOW_LIMITS.maxLifeMs', async () => {
  quicken({ [FOLLOW_LIMITS.maxLifeMs]: 50 });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const socket = await openSocket(`conversations/${conversationId}/events`);
  expect(await socket.toClose()).toEqual({ code: 1001, reason: 'come back with the cursor' });
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
});

it('loses and doubles nothing when the object lets its sockets go', async () => {
  const model = holdModel();
  const { reader, responseId, conversationId } = await askStreamed();
  const reply = await model.next();
  const socket = await openSocket(`chat/completions/${responseId}/events`);
  for (const piece of ['One', ' two', ' three']) {
    reply.send(textFrame(piece));
    await socket.until((events) => textOf(events).endsWith(piece));
    await dropFollowers(conversationId);
    reply.send(textFrame('.'));
  }
  reply.send(...endFrames('stop'));
  const events = await socket.toEnd();
  expect(textOf(events)).toBe('One. two. three.');
  expect(unitsOf(events)).toEqual(unitsOf(await reader.toEnd()));
});

it('sends the first event at once, and those that come soon after it together, before it closes', async () => {
  const { 0: client, 1: server } = new WebSocketPair();
  const reader = new ReaderSocket(server, 0);
  const positions: unknown[] = [];
  client.addEventListener('message', ({ data }) => {
    const events: { position: unknown }[] = JSON.parse(String(data));
    positions.push(events.map(({ position }) => position));
  });
  const closed = new Promise((resolve) => client.addEventListener('close', resolve));
  client.accept();
  const event = { type: 'content_delta', documentId: 'doc_001', delta: 'x' } as const;
  for (const position of [1, 2, 3]) reader.send(formatEvents([{ event, position }]));
  reader.close(READER_CLOSE.done);
  await closed;
  expect(positions).toEqual([[1], [2, 3]]);
});

it('counts what a crash took back as arrived with the snapshot behind it, and takes late acks of it', async () => {
  const { 0: client, 1: server } = new WebSocketPair();
  const reader = new ReaderSocket(server, 0);
  client.accept();
  const delta = 'x'.repeat(FOLLOW_LIMITS.maxBufferedChars);
  const event = { type: 'content_delta', documentId: 'doc_001', delta } as const;
  // The second one is sent from where the tape ends after the crash.
  for (const position of [300_000, 20]) reader.send(formatEvents([{ event, position }]));
  const caughtUp = reader.drained();
  client.send(JSON.stringify({ ack: 20 }));
  await caughtUp;
  expect(reader.buffered).toBe(0);
  client.send(JSON.stringify({ ack: 300_000 }));
  reader.send(formatEvents([{ event, position: 300_000 + 20 }]));
  client.send(JSON.stringify({ ack: 300_000 + 20 }));
  await reader.drained();
  expect(reader.life.signal.aborted).toBe(false);
  client.send(JSON.stringify({ ack: 300_000 + 21 }));
  const { code } = await new Promise<CloseEvent>((resolve) =>
    client.addEventListener('close', resolve),
  );
  expect(code).toBe(READER_CLOSE.ackTooFar.code);
});

it('deleting a conversation closes its readers with 4004, and ends its streams', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const path = `conversations/${conversationId}/events`;
  const sockets = [await openSocket(path), await openSocket(path)];
  const stream = new SseReader(await call(path));
  await stream.untilType('done');
  for (const socket of sockets) await socket.untilType('done');
  expect((await call(`conversations/${conversationId}`, { method: 'DELETE' })).status).toBe(204);
  for (const socket of sockets)
    expect(await socket.toClose()).toEqual({ code: 4004, reason: 'deleted' });
  await stream.toEnd();
  expect((await upgrade(path)).status).toBe(404);
});
