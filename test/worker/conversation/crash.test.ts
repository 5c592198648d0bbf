import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { answerOf, foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import { TunnelHands } from '../../../worker/conversation/calls/hands.ts';
import type { Conversation } from '../../../worker/conversation/object.ts';
import { TAPE_LIMITS } from '../../../worker/conversation/tape/limits.ts';
import { ask, call } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge, openBridge } from '../tunnel/scripted-bridge.ts';
import { askHeld, conversationObject, readResponse } from './conversing.ts';
import { runCommand, textFrame } from './held-model.ts';

it('a crash in the middle of a text is not seen by a follower but for a snapshot, and the answer completes', async () => {
  const { model, reader, responseId } = await startStream();
  const dying = await model.next();
  dying.send(textFrame('Half an ans'));
  const before = await reader.untilText('Half an ans');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'The whole answer.' });
  const events = await reader.toEnd();

  const snapshots = events.filter(({ event }) => event.type === 'snapshot');
  expect(snapshots.length).toBeLessThanOrEqual(1);
  const ids = events.map(({ id }) => id);
  const after = ids.slice(before.length + snapshots.length);
  expect(Math.min(...after)).toBeGreaterThan(Math.max(...before.map(({ id }) => id)));
  expect(after[0]).toBeGreaterThan((before.at(-1)?.id ?? 0) + TAPE_LIMITS.jump / 2);

  const folded = newResponse(startOf(events));
  for (const { event } of events) foldEvent(folded, event);
  const cut = events.filter(({ event }) => JSON.stringify(event).includes('"interrupted":true'));
  expect(cut.length).toBeGreaterThan(0);
  const json = await readResponse(responseId);
  expect(folded).toEqual(json);
  expect(json).toMatchObject({ status: 'completed', documents: [{ id: 'doc_002' }] });
  expect(json.documents.map(({ content }) => content)).toEqual(['The whole answer.']);
  expect(model.count).toBe(2);
});

it('a crash in the middle of a text takes back every document of the turn that it cut, ended or not', async () => {
  const { model, reader, responseId } = await startStream();
  const dying = await model.next();
  dying.send(textFrame('Intro.\n\n```js\nlet a;\n```\n\nAnd then'));
  await reader.untilText('And then');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'Once.' });
  const events = await reader.toEnd();
  const folded = newResponse(startOf(events));
  for (const { event } of events) foldEvent(folded, event);
  const json = await readResponse(responseId);
  expect(json.documents.map(({ content }) => content)).toEqual(['Once.']);
  expect(answerOf(folded)).toEqual(json);
});

it('a crash in the middle of a text takes back nothing of the turns before', async () => {
  const { model, reader, responseId } = await startStream();
  (await model.next()).answer({ text: 'First.', calls: [{ name: 'nothing', arguments: {} }] });
  (await model.next()).send(textFrame('Half'));
  await reader.untilText('Half');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'Whole.' });
  await reader.toEnd();
  const { documents } = await readResponse(responseId);
  const texts = documents.filter(({ type }) => type === 'text').map(({ content }) => content);
  expect(texts).toEqual(['First.', 'Whole.']);
});

it('a crash in the middle of a text gives a reader that comes back with a cursor in the jump one snapshot and the rest', async () => {
  const { model, reader, responseId } = await startStream();
  const dying = await model.next();
  dying.send(textFrame('Kept'));
  await reader.untilText('Kept');
  dying.send(textFrame(', lost'));
  const lost = (await reader.untilText('Kept, lost')).at(-1)?.id;
  await reader.leave();
  await abortAllDurableObjects();
  const back = new SseReader(
    await call(`chat/completions/${responseId}/events`, {
      headers: { 'last-event-id': `${lost}` },
    }),
  );
  (await model.next()).answer({ text: 'Found.' });
  const events = await back.toEnd();
  expect(events[0]?.event).toMatchObject({ type: 'snapshot', snapshot: { scope: 'response' } });
  expect(events.filter(({ event }) => event.type === 'snapshot')).toHaveLength(1);
  const snapshot = events[0]?.event;
  if (snapshot?.type !== 'snapshot' || snapshot.snapshot.scope !== 'response') return;
  const copy: ChatResponse = snapshot.snapshot.response;
  for (const { event } of events) foldEvent(copy, event);
  expect(answerOf(copy)).toEqual(await readResponse(responseId));
  const again = await call(`chat/completions/${responseId}/events?after=${lost}`);
  const late = await new SseReader(again).toEnd();
  expect(late.map(({ event }) => event.type)).toEqual(['snapshot', 'done']);
});

it('a crash in the middle of a text is noticed by the watchdog when no one follows', async () => {
  const { model, reader, responseId, stub } = await startStream();
  (await model.next()).send(textFrame('Half'));
  await reader.untilText('Half');
  await reader.leave();
  await abortAllDurableObjects();
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  const follower = new SseReader(await call(`chat/completions/${responseId}/events`));
  (await model.next()).answer({ text: 'Whole.' });
  await follower.toEnd();
  expect((await readResponse(responseId)).documents.map(({ content }) => content)).toEqual([
    'Whole.',
  ]);
});

it.each([
  ['its response', ({ responseId }: Started) => `chat/completions/${responseId}`],
  ['its conversation', ({ conversationId }: Started) => `conversations/${conversationId}`],
])('a crash that only a reader can notice is repaired by reading %s', async (_, pathOf) => {
  const started = await startStream();
  const { model, reader, responseId } = started;
  (await model.next()).send(textFrame('Half'));
  await reader.untilText('Half');
  await reader.leave();
  await abortAllDurableObjects();
  await call(pathOf(started));
  (await model.next()).answer({ text: 'Whole.' });
  await vi.waitUntil(async () => (await readResponse(responseId)).status === 'completed');
  expect((await readResponse(responseId)).documents.map(({ content }) => content)).toEqual([
    'Whole.',
  ]);
});

it('takeovers end in RECOVERY_EXHAUSTED after the limit, and the conversation stays usable', async () => {
  const { model, reader, responseId, conversationId } = await startStream();
  for (let crash = 0; crash <= RUN_LIMITS.maxTakeovers; crash++) {
    (await model.next()).send(textFrame(`Try ${crash}.`));
    await reader.untilText(`Try ${crash}.`);
    await abortAllDurableObjects();
  }
  await reader.toEnd();
  expect(await readResponse(responseId)).toMatchObject({
    status: 'error',
    documents: [{ type: 'error', metadata: { errorCode: 'RECOVERY_EXHAUSTED' } }],
  });
  const next = await ask('again', { stream: true, conversationId });
  (await model.next()).answer({ text: 'Fine.' });
  expect((await new SseReader(next).toEnd()).at(-1)?.event).toMatchObject({
    status: 'completed',
  });
});

it('takeovers are counted anew after a turn that completed', async () => {
  const { model, reader, stub } = await startStream();
  (await model.next()).send(textFrame('Half'));
  await reader.untilText('Half');
  await abortAllDurableObjects();
  (await model.next()).answer({ calls: [{ name: 'nothing', arguments: {} }] });
  const next = await model.next();
  expect(await takeoversIn(stub)).toEqual([0]);
  next.answer({ text: 'Done.' });
  await reader.toEnd();
});

it('is no concern of the next run where a cancel was the first to find it', async () => {
  const { model, reader, responseId, conversationId, stub } = await startStream();
  (await model.next()).send(textFrame('Half'));
  await reader.untilText('Half');
  await reader.leave();
  await abortAllDurableObjects();
  await call(`chat/completions/${responseId}/cancel`, { method: 'POST' });
  const next = new SseReader(await ask('again', { conversationId, stream: true }));
  const reply = await model.next();
  expect(await takeoversIn(stub)).toEqual([0, 0]);
  reply.answer({ text: 'Done.' });
  await next.toEnd();
});

it('sends a call that is out again under the same id, and takes its result once', async () => {
  const bridge = await connectBridge();
  const { model, reader, responseId } = await startStream({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  await reader.untilType('tool_call_start');
  await abortAllDurableObjects();
  expect(await bridge.closed).toBeGreaterThan(0);
  const back = await connectAgain(bridge.bridgeId);
  expect(back.welcomed.map((waiting) => waiting.callId)).toEqual([callId]);
  back.bridge.succeed(callId, 'made');
  expect((await back.bridge.next('ack')).callId).toBe(callId);
  back.bridge.succeed(callId, 'made twice');
  await back.bridge.next('ack');
  (await model.next()).answer({ text: 'Built.' });
  const events = await reader.toEnd();
  expect(events.filter(({ event }) => event.type === 'tool_result')).toHaveLength(1);
  expect((await readResponse(responseId)).status).toBe('completed');
  for (const frame of back.bridge.frames) {
    if (frame.type === 'call') expect(frame.call.callId).toBe(callId);
  }
});

it('hands a call over again whose tunnel was reset as it came', async () => {
  const bridge = await connectBridge();
  const dispatch = vi.spyOn(TunnelHands.prototype, 'dispatch').mockRejectedValueOnce('reset');
  const { model, reader } = await startStream({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  expect(dispatch).toHaveBeenCalledTimes(2);
  bridge.succeed(callId, 'made');
  (await model.next()).answer({ text: 'Built.' });
  await reader.toEnd();
});

async function connectAgain(bridgeId: string) {
  const bridge = await openBridge({ bridgeId });
  return { bridge, welcomed: (await bridge.greet()).calls };
}

type Started = Awaited<ReturnType<typeof startStream>>;

async function startStream(more?: Parameters<typeof askHeld>[0]) {
  const started = await askHeld(more);
  return { ...started, stub: conversationObject(started.conversationId) };
}

function startOf(events: Awaited<ReturnType<SseReader['toEnd']>>) {
  for (const { event } of events) if (event.type === 'response_start') return event.response;
  throw new Error('no response_start');
}

/** Of each run. */
function takeoversIn(stub: DurableObjectStub<Conversation>): Promise<unknown[]> {
  return runInDurableObject(stub, (_, { storage: { sql } }) =>
    [...sql.exec('select takeovers from runs order by ordinal')].map((row) => row['takeovers']),
  );
}
