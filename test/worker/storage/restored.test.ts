import { abortAllDurableObjects, SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it } from 'vitest';
import { DAY } from '../../../shared/units.ts';
import { firstPositionOf } from '../../../worker/storage/restored.ts';
import { call, chat, scriptModel } from '../api.ts';
import { askStreamed, readResponse } from '../conversation/conversing.ts';
import { holdModel, runCommand } from '../conversation/held-model.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import { type ReadEvent, SseReader } from '../follow/sse-reader.ts';
import { connectBridge, openBridge } from '../tunnel/scripted-bridge.ts';

afterEach(() => {
  setRestored(undefined);
});

it('gives out positions after a restore that no future before can have given out', async () => {
  scriptModel(() => ({ text: 'An answer.' }));
  const { id, conversationId } = await chat('first');
  const whole = await eventsOf(`chat/completions/${id}`, 0);
  const lost = (whole.at(-1)?.id ?? 0) + 77;
  await restoreNow();
  // A reader that has seen more of the other future than there is now must read again.
  expect(await typesOf(`conversations/${conversationId}`, lost, 1)).toEqual(['snapshot']);
  const second = await chat('second', { conversationId });
  const after = await eventsOf(`chat/completions/${second.id}`, lost);
  expect(after.map(({ event }) => event.type)).toEqual(['snapshot', 'done']);
  expect(Math.min(...after.map(({ id }) => id))).toBeGreaterThan(firstPositionOf(env));
  expect(firstPositionOf(env)).toBeGreaterThan(2 ** 40);
  expect(await eventsOf(`chat/completions/${id}`, 0)).toEqual(whole);
});

it('takes no positions but those that a restore has named', () => {
  expect([{}, { FIRST_POSITION: 'nonsense' }].map(firstPositionOf)).toEqual([0, 0]);
});

it('runs new calls after the restore of a backup that a clock ahead has made, but none of its own', async () => {
  const model = holdModel();
  const clock = shiftClock(400 * DAY);
  const bridge = await connectBridge();
  const { responseId } = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  await bridge.leave();
  clock.aheadMs = 0;
  await restoreNow();
  const again = await openBridge({ bridgeId: bridge.bridgeId });
  expect(await again.greet({ calls: [callId] })).toMatchObject({ calls: [], cancels: [callId] });
  const read = readResponse(responseId); // Wakes the conversation.
  const { request, ...reply } = await model.next();
  expect(JSON.stringify(request.messages.at(-1))).toMatch(/restored from a backup/);
  reply.answer({ calls: [runCommand('make again')] });
  const fresh = await again.nextCall();
  expect(fresh.callId).not.toBe(callId);
  again.succeed(fresh.callId, 'made');
  (await model.next()).answer({ text: 'So be it.' });
  await read;
});

it('reports a call of before the restore to the model as unknown, and does not run it', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const { responseId } = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  await bridge.leave();
  await restoreNow();
  const again = await openBridge({ bridgeId: bridge.bridgeId });
  expect(await again.greet({ calls: [callId] })).toMatchObject({ calls: [], cancels: [callId] });
  const read = readResponse(responseId); // Wakes the conversation.
  const { request, ...reply } = await model.next();
  expect(request.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringMatching(/restored from a backup/),
  });
  reply.answer({ text: 'So be it.' });
  await read;
});

it('cancels the calls of a bridge whose own state was restored', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  await bridge.leave();
  const again = await openBridge({ bridgeId: bridge.bridgeId });
  expect(await again.greet({ restored: true })).toMatchObject({ calls: [], cancels: [callId] });
});

it('opens nothing with a ticket of before the restore', async () => {
  scriptModel(() => ({ text: 'An answer.' }));
  const { id: responseId } = await chat('first');
  const { ticket: early } = await newTicket(responseId);
  await restoreNow();
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // Tickets count in seconds.
  const { ticket: late } = await newTicket(responseId);
  const statuses = [];
  for (const ticket of [early, late]) {
    const path = `/api/v1/chat/completions/${responseId}/events?ticket=${ticket}`;
    const response = await SELF.fetch(`https://drawbridge.test${path}`);
    await response.body?.cancel();
    statuses.push(response.status);
  }
  expect(statuses).toEqual([401, 200]);
});

it('takes back the future of a file alone that was restored alone', async () => {
  scriptModel(() => ({ text: 'An answer.' }));
  const [first, other] = [await chat('first'), await chat('first')];
  const newest = async ({ id }: { id: string }) => {
    return (await eventsOf(`chat/completions/${id}`, 0)).at(-1)?.id ?? 0;
  };
  const before = [await newest(first), await newest(other)];
  await new Promise((resolve) => setTimeout(resolve, 5)); // What was there is older.
  const restored = { RESTORED_AT: String(Date.now()), FIRST_POSITION: String(2 ** 41) };
  const object = String(env.CONVERSATIONS.idFromName(first.conversationId));
  Object.assign(env, { RESTORED_FILES: JSON.stringify({ [object]: restored }) });
  await abortAllDurableObjects();
  const { conversationId } = first;
  // A reader that has seen more of the other future than there is now must read again.
  const lost = (before[0] ?? 0) + 77;
  expect(await typesOf(`conversations/${conversationId}`, lost, 1)).toEqual(['snapshot']);
  const again = [
    await chat('second', { conversationId }),
    await chat('second', { conversationId: other.conversationId }),
  ];
  expect(await newest(again[0] ?? first)).toBeGreaterThan(2 ** 41);
  expect(await newest(again[1] ?? other)).toBeLessThan(2 ** 40);
});

async function newTicket(responseId: string): Promise<{ ticket: string }> {
  return await (await call('tickets', { body: { responseId } })).json();
}

async function eventsOf(path: string, after: number): Promise<ReadEvent[]> {
  return await new SseReader(await call(`${path}/events?after=${after}`)).toEnd();
}

/** The first events of a stream that goes on. */
async function typesOf(path: string, after: number, count: number): Promise<string[]> {
  const reader = new SseReader(await call(`${path}/events?after=${after}`));
  const events = await reader.until((seen) => seen.length >= count);
  await reader.leave();
  return events.map(({ event }) => event.type);
}

/** As if all data came from a backup of this moment. */
async function restoreNow(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5)); // What was there is older.
  setRestored(String(Date.now()));
  await abortAllDurableObjects();
}

function setRestored(value: string | undefined): void {
  const firstPosition = value && String(2 ** 41);
  Object.assign(env, {
    RESTORED_AT: value,
    FIRST_POSITION: firstPosition,
    RESTORED_FILES: undefined,
  });
}
