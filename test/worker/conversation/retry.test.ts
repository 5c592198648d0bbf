import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeEach, expect, it, vi } from 'vitest';
import { UPSTREAM_LIMITS } from '../../../packages/model/limits.ts';
import { streamOf } from '../../far-ends/reply-script.ts';
import { call, type ModelAnswer, scriptModel } from '../api.ts';
import {
  alarmOf,
  askStreamed,
  cancel,
  conversationObject,
  readResponse,
  startAnswer,
} from './conversing.ts';
import { endFrames, holdModel, textFrame } from './held-model.ts';
import { type ShiftedClock, shiftClock } from './shifted-clock.ts';

let clock: ShiftedClock;

beforeEach(() => {
  clock = shiftClock();
});
const RETRY_AFTER_S = 45;

function overloaded(): Response {
  return Response.json(
    { error: { message: 'slow down' } },
    { status: 429, headers: { 'retry-after': `${RETRY_AFTER_S}` } },
  );
}

it('an upstream that fails before anything was shown is asked again by the alarm, not before it wished', async () => {
  const requests = scriptModel((_, number) => (number === 0 ? overloaded() : { text: 'Now.' }));
  const before = Date.now();
  const { reader, responseId, conversationId } = await askStreamed();
  const at = await alarmSoon(conversationId);
  expect(at).toBeGreaterThanOrEqual(before + RETRY_AFTER_S * 1000);
  expect(at).toBeLessThanOrEqual(Date.now() + RETRY_AFTER_S * 1000);
  expect(requests).toHaveLength(1);
  await passTime(conversationId);
  await reader.toEnd();
  expect(requests).toHaveLength(2);
  expect(await readResponse(responseId)).toMatchObject({
    status: 'completed',
    documents: [{ id: 'doc_001', content: 'Now.' }],
  });
});

it('readers learn why an answer stands still and for how long, until something follows', async () => {
  scriptModel((_, number) => (number === 0 ? overloaded() : { text: 'Now.' }));
  const { reader, responseId, conversationId } = await askStreamed();
  const at = await alarmSoon(conversationId);
  const wait = { reason: 'rate_limited', until: new Date(at).toISOString() };
  expect((await readResponse(responseId)).metadata.wait).toEqual(wait);
  await passTime(conversationId);
  const events = (await reader.toEnd()).map(({ event }) => event);
  expect(events).toContainEqual({ type: 'model_wait', responseId, wait });
  expect((await readResponse(responseId)).metadata.wait).toBeUndefined();
});

it.each<[string, 'awake' | 'evicted']>([
  ['with the object awake all the time', 'awake'],
  ['with an object that is evicted while it waits', 'evicted'],
])(
  'an upstream that fails before anything was shown is given up after so many attempts, %s',
  async (_, object) => {
    const requests = scriptModel(overloaded);
    const { reader, responseId, conversationId } = await askStreamed();
    for (let attempt = 1; attempt < UPSTREAM_LIMITS.maxAttempts; attempt++) {
      await alarmSoon(conversationId);
      if (object === 'evicted') await evictDurableObject(conversationObject(conversationId));
      await passTime(conversationId);
      await vi.waitFor(() => expect(requests).toHaveLength(attempt + 1));
    }
    await reader.toEnd();
    expect(requests).toHaveLength(UPSTREAM_LIMITS.maxAttempts);
    expect(await readResponse(responseId)).toMatchObject({
      status: 'error',
      documents: [{ type: 'error', metadata: { errorCode: 'UPSTREAM_ERROR' } }],
    });
  },
);

it('an upstream that fails before anything was shown is not asked again before its time by a follower who comes meanwhile', async () => {
  const requests = scriptModel((_, number) => (number === 0 ? overloaded() : { text: 'Now.' }));
  const { reader, conversationId } = await askStreamed();
  await alarmSoon(conversationId);
  await evictDurableObject(conversationObject(conversationId));
  const follower = await call(`conversations/${conversationId}/events`);
  await alarmOf(conversationId);
  expect(requests).toHaveLength(1);
  // It waited; it did not crash.
  const takeovers = await runInDurableObject(conversationObject(conversationId), (_, state) =>
    state.storage.sql.exec('select takeovers from runs').one(),
  );
  expect(takeovers).toEqual({ takeovers: 0 });
  await follower.body?.cancel();
  await passTime(conversationId);
  await reader.toEnd();
});

it.each<[string, () => ModelAnswer, string]>([
  [
    'with a refusal',
    () => Response.json({ error: { message: 'no' } }, { status: 400 }),
    'UPSTREAM_ERROR',
  ],
  ['with nothing at all', () => streamOf(endFrames('stop')), 'EMPTY_ANSWER'],
])(
  'an upstream that fails in a way that another attempt does not fix %s',
  async (_, answer, errorCode) => {
    const requests = scriptModel(answer);
    const { reader, responseId } = await askStreamed();
    await reader.toEnd();
    expect(requests).toHaveLength(1);
    const { documents } = await readResponse(responseId);
    expect(documents.at(-1)?.metadata).toMatchObject({ errorCode });
  },
);

it('an upstream that fails in a way that another attempt does not fix after something was shown', async () => {
  const { model, reader, responseId, reply } = await startAnswer();
  reply.send(textFrame('Some words'));
  await reader.untilText('Some words');
  reply.close(new Error('connection reset'));
  await reader.toEnd();
  expect(model.count).toBe(1);
  expect((await readResponse(responseId)).documents).toMatchObject([
    { type: 'text', content: 'Some words' },
    { type: 'error', metadata: { errorCode: 'UPSTREAM_INTERRUPTED' } },
  ]);
});

it('an upstream that fails in a way that another attempt does not fix after something was shown, of which the model learns next time', async () => {
  const { model, reader, conversationId, reply } = await startAnswer();
  reply.send(textFrame('Some words'));
  await reader.untilText('Some words');
  reply.close(new Error('connection reset'));
  await reader.toEnd();
  const next = await askStreamed({ conversationId });
  const asked = await model.next();
  expect(asked.request.messages).toContainEqual({ role: 'assistant', content: 'Some words' });
  asked.answer({ text: 'More.' });
  await next.reader.toEnd();
});

it('lets a cancel end a run that waits for its next attempt', async () => {
  scriptModel(overloaded);
  const { reader, responseId, conversationId } = await askStreamed();
  await alarmSoon(conversationId);
  expect(await cancel(responseId)).toMatchObject({ status: 'cancelled' });
  await reader.toEnd();
  const model = holdModel();
  const next = await askStreamed({ conversationId });
  (await model.next()).answer({ text: 'Next.' });
  await next.reader.toEnd();
});

/** When the alarm stands, once it stands nearer than the watchdog. */
function alarmSoon(conversationId: string): Promise<number> {
  return vi.waitFor(async () => {
    const at = (await alarmOf(conversationId)) ?? Number.POSITIVE_INFINITY;
    expect(at).toBeLessThanOrEqual(Date.now() + RETRY_AFTER_S * 1000);
    return at;
  });
}

/** Lets the wait be over: the alarm fires, at a time when it was due. */
async function passTime(conversationId: string): Promise<void> {
  clock.aheadMs += RETRY_AFTER_S * 1000 + 1;
  await runDurableObjectAlarm(conversationObject(conversationId));
}
