/** Crowds of readers, of which nothing may stay. */
import { expect, vi } from 'vitest';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { call, chat, scriptModel } from '../api.ts';
import { openSocket } from './socket-reader.ts';
import { SseReader, unitsOf } from './sse-reader.ts';
import { BEFORE_HEARTBEAT, followersOf, quicken } from './watching.ts';

/** Has a hundred readers come, read and leave in each round. */
export async function crowd(rounds: number): Promise<void> {
  const { heartbeatMs, maxLifeMs } = FOLLOW_LIMITS;
  const timers = quicken({ [heartbeatMs]: heartbeatMs, [maxLifeMs]: maxLifeMs });
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one');
  const path = `conversations/${conversationId}/events`;
  for (let round = 0; round < rounds; round++) {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(path)));
    for (const socket of sockets) await socket.untilType('done');
    expect(await followersOf(conversationId)).toBe(100);
    expect(timers.count).toBe(200);
    await Promise.all(sockets.map((socket) => socket.leave()));
    await vi.waitFor(
      async () => expect(await followersOf(conversationId)).toBe(0),
      BEFORE_HEARTBEAT,
    );
  }
  expect(timers.count).toBe(0);
}

/** Has a reader of each kind come back with one old cursor, again and again. */
export async function comeBack(times: number): Promise<void> {
  scriptModel(() => ({ text: 'One two three.' }));
  const { id, conversationId } = await chat('one');
  const path = `chat/completions/${id}/events`;
  const whole = await new SseReader(await call(path)).toEnd();
  const cursor = whole[1]?.id ?? 0;
  const rest = unitsOf(whole.slice(2));
  for (let time = 0; time < times; time++) {
    const after = `${path}?after=${cursor}`;
    const [socket, stream] = [await openSocket(after), new SseReader(await call(after))];
    expect(unitsOf(await socket.toEnd())).toEqual(rest);
    expect(unitsOf(await stream.toEnd())).toEqual(rest);
  }
  await vi.waitFor(async () => expect(await followersOf(conversationId)).toBe(0), BEFORE_HEARTBEAT);
}
