import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { newDeviceId } from '../../../shared/ids.ts';
import type { StreamEvent } from '../../../shared/wire/events.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { call } from '../api.ts';
import type { SocketReader } from '../follow/socket-reader.ts';
import { SseReader, unitsOf } from '../follow/sse-reader.ts';
import { QUICK_REFUSALS, quicken } from '../follow/watching.ts';
import { NONCE, openBridge } from '../tunnel/scripted-bridge.ts';
import { conversationObject, readResponse } from './conversing.ts';
import {
  type Followed,
  fallAsleep,
  isAwake,
  startFollowed,
  untilBothSee,
  waitForApproval,
  waitForClarification,
  waitForTool,
  wake,
} from './sleeping.ts';

const once = {
  nonce: NONCE,
  decision: 'once',
  signature: { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2ln' },
};

interface Wait {
  /** Brings the run to where nothing happens any more, and says how to go on. */
  readonly begin: (followed: Followed) => Promise<Going>;
  /** The first event after the sleep. */
  readonly wakes: StreamEvent['type'];
}

interface Going {
  /** Makes the first event. */
  goOn(): Promise<unknown> | unknown;
  /** What else the run needs before it asks the model again. */
  finish(): void;
}

const WAITS: readonly [what: string, wait: Wait][] = [
  ['a tool runs', { begin: beginTool, wakes: 'tool_output' }],
  ['an approval waits', { begin: beginApproval, wakes: 'approval_resolved' }],
  ['a clarification waits', { begin: beginClarification, wakes: 'tool_result' }],
];

describe.each(WAITS)('while %s', (_, { begin, wakes }) => {
  it('both objects sleep at once, and the next event reaches every follower', async () => {
    quicken(QUICK_REFUSALS);
    const followed = await startFollowed();
    const { goOn, finish } = await begin(followed);
    const before = await instanceOf(followed);
    await fallAsleep(followed);
    await goOn();
    await untilBothSee(followed, wakes);
    expect((await instanceOf(followed)) === before).toBe(false);
    finish();
    (await followed.model.next()).answer({ text: 'Done.' });
    await expectWhole(followed);
  });

  it('they sleep again each time after they were asked something', async () => {
    quicken(QUICK_REFUSALS);
    const followed = await startFollowed();
    const { goOn, finish } = await begin(followed);
    for (let sleeps = 0; sleeps < 3; sleeps++) {
      await fallAsleep(followed);
      await wake(followed);
    }
    await goOn();
    finish();
    (await followed.model.next()).answer({ text: 'Done.' });
    await expectWhole(followed);
  });

  it('heartbeats reach the followers and wake no one', async () => {
    quicken({ ...QUICK_REFUSALS, [FOLLOW_LIMITS.heartbeatMs]: 5 });
    const followed = await startFollowed();
    const { goOn, finish } = await begin(followed);
    await fallAsleep(followed);
    const { sse, socket } = followed;
    const beats = { sse: beatsOf(sse), socket: beatsOn(socket) };
    while (beatsOf(sse) < beats.sse + 5) await sse.readOnce();
    await vi.waitFor(() => expect(beatsOn(socket)).toBeGreaterThan(beats.socket + 5));
    expect(await isAwake(followed)).toBe(false);
    await goOn();
    await untilBothSee(followed, wakes);
    finish();
    (await followed.model.next()).answer({ text: 'Done.' });
    await expectWhole(followed);
  });
});

it('followers see the next event of a tool whose conversation and tunnel were reset', async () => {
  const followed = await startFollowed();
  const callId = await waitForTool(followed);
  await abortAllDurableObjects();
  await followed.bridge.closed;
  const bridge = await openBridge({ bridgeId: followed.bridge.bridgeId });
  expect((await bridge.greet()).calls.map((waiting) => waiting.callId)).toEqual([callId]);
  bridge.send({ type: 'output', callId, delta: 'working' });
  await untilBothSee(followed, 'tool_output');
  bridge.succeed(callId, 'made');
  (await followed.model.next()).answer({ text: 'Done.' });
  await expectWhole(followed);
});

async function beginTool(followed: Followed): Promise<Going> {
  const callId = await waitForTool(followed);
  return {
    goOn: () => followed.bridge.send({ type: 'output', callId, delta: 'working' }),
    finish: () => followed.bridge.succeed(callId, 'made'),
  };
}

async function beginApproval(followed: Followed): Promise<Going> {
  const callId = await waitForApproval(followed);
  return {
    async goOn() {
      const path = `conversations/${followed.conversationId}/approvals/${callId}`;
      expect((await call(path, { body: once })).status).toBe(200);
      expect((await followed.bridge.next('approval')).answer).toEqual({ callId, ...once });
      followed.bridge.resolve(callId);
    },
    finish: () => followed.bridge.succeed(callId, 'made'),
  };
}

async function beginClarification(followed: Followed): Promise<Going> {
  const documentId = await waitForClarification(followed);
  const path = `conversations/${followed.conversationId}/clarifications/${documentId}`;
  const body = { answers: [{ questionId: 'q1', optionIds: ['a'] }] };
  return {
    goOn: async () => expect((await call(path, { body })).status).toBe(200),
    finish: () => undefined,
  };
}

/** Both followers saw the run to its good end, each event once, and the same as anyone who reads it from the start. */
async function expectWhole({ sse, socket, responseId }: Followed): Promise<void> {
  const events = await sse.toEnd();
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  const types = events.map(({ event }) => event.type);
  for (const type of ['tool_result', 'done'] as const) {
    expect(types.filter((other) => other === type)).toHaveLength(1);
  }
  expect(types).not.toContain('snapshot');
  const units = unitsOf(events);
  expect(unitsOf(await socket.toEnd())).toEqual(units);
  const again = new SseReader(await call(`chat/completions/${responseId}/events`));
  expect(unitsOf(await again.toEnd())).toEqual(units);
  const { status, documents } = await readResponse(responseId);
  expect([status, documents.at(-1)?.content]).toEqual(['completed', 'Done.']);
}

/** Wakes the conversation, if it sleeps. */
function instanceOf({ conversationId }: Followed): Promise<object> {
  return runInDurableObject(conversationObject(conversationId), (instance) => instance);
}

function beatsOf({ raw }: SseReader): number {
  return raw.filter(({ event }) => event === 'heartbeat').length;
}

function beatsOn({ messages }: SocketReader): number {
  return messages.flat().filter(({ event }) => event.type === 'heartbeat').length;
}
