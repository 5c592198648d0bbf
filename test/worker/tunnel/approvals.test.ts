import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { newCallId, newDeviceId } from '../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { call, errorOf } from '../api.ts';
import {
  askStreamed,
  cancel,
  conversationObject,
  readResponse,
  type Streamed,
} from '../conversation/conversing.ts';
import { type HeldModel, holdModel, runCommand } from '../conversation/held-model.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import { QUICK_REFUSALS, quicken } from '../follow/watching.ts';
import {
  connectBridge,
  NONCE,
  openBridge,
  PROPOSAL,
  type ScriptedBridge,
  tunnelOf,
} from './scripted-bridge.ts';

const signature = { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2ln' };
const once = { nonce: NONCE, decision: 'once', signature };
const reject = { nonce: NONCE, decision: 'reject' };

it('a question is shown, its answer reaches the bridge, and the run goes on', async () => {
  const { model, bridge, callId, streamed } = await question();
  expect(await readResponse(streamed.responseId)).toMatchObject({
    status: 'waiting',
    documents: [
      {
        metadata: {
          approval: {
            callId,
            bridgeId: bridge.bridgeId,
            nonce: NONCE,
            proposal: PROPOSAL,
            reason: 'It runs a command.',
          },
        },
      },
    ],
  });
  const sent = answer(streamed, callId, once);
  expect((await bridge.next('approval')).answer).toEqual({ callId, ...once });
  bridge.resolve(callId);
  expect((await sent).status).toBe(200);
  bridge.succeed(callId, 'ran');
  (await model.next()).answer({ text: 'Done.' });
  await streamed.reader.toEnd();
  const { status, documents } = await readResponse(streamed.responseId);
  expect(status).toBe('completed');
  expect(documents[0]?.metadata).not.toHaveProperty('approval');
});

it('only the first answer counts, until the bridge refuses it, which its sender hears', async () => {
  const { bridge, callId, streamed } = await question();
  const first = answer(streamed, callId, once);
  await bridge.next('approval');
  expect(await errorOf(await answer(streamed, callId, reject))).toMatchObject({ status: 409 });
  bridge.send({ type: 'approval_refused', callId, nonce: NONCE, message: 'Badly signed.' });
  expect(await errorOf(await first)).toMatchObject({
    status: 403,
    code: 'APPROVAL_REFUSED',
    message: expect.stringContaining('Badly signed.'),
  });
  const second = answer(streamed, callId, once);
  expect((await bridge.next('approval')).answer).toMatchObject(once);
  bridge.resolve(callId);
  expect((await second).status).toBe(200);
  await streamed.reader.leave();
});

it('takes an answer to which the bridge is silent, and keeps it until the bridge reacts', async () => {
  const { callId, streamed } = await question();
  quicken(QUICK_REFUSALS);
  expect((await answer(streamed, callId, reject)).status).toBe(200);
  expect(await errorOf(await answer(streamed, callId, reject))).toMatchObject({ status: 409 });
  await streamed.reader.leave();
});

it('a refusal outlives a restart of the tunnel', async () => {
  const { bridge, callId, streamed } = await question();
  void answer(streamed, callId, once);
  await bridge.next('approval');
  bridge.send({ type: 'approval_refused', callId, nonce: NONCE, message: 'Badly signed.' });
  bridge.succeed(newCallId(crypto.randomUUID()), '');
  await bridge.next('ack');
  await abortAllDurableObjects();
  const tunnel = tunnelOf(bridge.bridgeId);
  expect(await tunnel.answerState('ada', { callId, nonce: NONCE })).toEqual({
    state: 'refused',
    message: 'Badly signed.',
  });
  expect(await tunnel.answerState('eve', { callId, nonce: NONCE })).toEqual({ state: 'over' });
});

it.each<[string, (asked: Question) => Promise<Response>, number, string]>([
  [
    'without a signature',
    ({ streamed, callId }) => answer(streamed, callId, { nonce: NONCE, decision: 'once' }),
    403,
    'APPROVAL_NOT_SIGNED',
  ],
  [
    'for a call that does not exist',
    ({ streamed }) => answer(streamed, `call_${crypto.randomUUID()}`, once),
    404,
    'NOT_FOUND',
  ],
  [
    'from another account',
    ({ streamed, callId }) => answer(streamed, callId, once, 'eve'),
    404,
    'NOT_FOUND',
  ],
  [
    'to a question that was not asked',
    ({ streamed, callId }) => answer(streamed, callId, { ...once, nonce: 'of-another-question' }),
    409,
    'SUPERSEDED',
  ],
  [
    'that names no question',
    ({ streamed, callId }) => answer(streamed, callId, { decision: 'reject' }),
    400,
    'INVALID_REQUEST',
  ],
  [
    'of an unknown kind',
    ({ streamed, callId }) => answer(streamed, callId, { ...once, decision: 'always' }),
    400,
    'INVALID_REQUEST',
  ],
  [
    'with content that no file can hold',
    ({ streamed, callId }) => answer(streamed, callId, { ...once, content: 'a\uD800b' }),
    400,
    'INVALID_REQUEST',
  ],
])('an answer %s is refused, and the question stays open', async (_, give, status, code) => {
  const asked = await question();
  expect(await errorOf(await give(asked))).toMatchObject({ status, code });
  void answer(asked.streamed, asked.callId, reject);
  expect((await asked.bridge.next('approval')).answer).toMatchObject(reject);
  asked.bridge.resolve(asked.callId, { decision: 'reject' });
  await asked.streamed.reader.untilType('approval_resolved');
  await asked.streamed.reader.leave();
});

it('an answer given while the bridge is away is kept for it, over a crash of the edge', async () => {
  const { bridge, callId, streamed } = await question();
  await bridge.leave();
  expect((await answer(streamed, callId, once)).status).toBe(200);
  expect(await errorOf(await answer(streamed, callId, once))).toMatchObject({ status: 409 });
  await abortAllDurableObjects();
  const back = await openBridge({ bridgeId: bridge.bridgeId });
  expect((await back.greet()).answers).toEqual([{ callId, ...once }]);
  back.resolve(callId);
  await streamed.reader.untilType('approval_resolved');
  const again = await openBridge({ bridgeId: bridge.bridgeId });
  expect((await again.greet()).answers).toEqual([]);
  await streamed.reader.leave();
});

it('a person has longer than a command, and the command its own time after that', async () => {
  const { bridge, callId, streamed } = await question();
  const clock = shiftClock(2 * RUN_LIMITS.callDeadlineMs);
  const alarm = () => runDurableObjectAlarm(conversationObject(streamed.conversationId));
  await alarm();
  expect((await readResponse(streamed.responseId)).status).toBe('waiting');
  bridge.resolve(callId, { by: 'terminal' });
  await streamed.reader.untilType('approval_resolved');
  clock.aheadMs += RUN_LIMITS.callDeadlineMs / 2;
  await alarm();
  expect((await readResponse(streamed.responseId)).status).toBe('streaming');
  await streamed.reader.leave();
});

it.each<[string, (bridge: ScriptedBridge, callId: string) => void]>([
  [
    'result',
    (bridge, callId) =>
      bridge.finish(callId, { status: 'error', code: 'UNKNOWN_OUTCOME', data: 'Gone.' }),
  ],
  ['decision', (bridge, callId) => bridge.resolve(callId, { by: 'terminal' })],
])('a %s leaves what still waits for a person its time', async (_, end) => {
  const { bridge, streamed, callIds } = await twoCalls();
  for (const callId of callIds) bridge.ask(callId);
  await streamed.reader.until(
    (events) => events.filter(({ event }) => event.type === 'approval_request').length === 2,
  );
  const before = await deadlineOf(streamed);
  expect(before).toBeGreaterThan(Date.now() + RUN_LIMITS.approvalMs);
  end(bridge, callIds[0] ?? '');
  await streamed.reader.untilType('approval_resolved');
  expect(await deadlineOf(streamed)).toBe(before);
  await streamed.reader.leave();
});

it('a result gives no more time to other calls without a question', async () => {
  const { bridge, streamed, callIds } = await twoCalls();
  bridge.succeed(callIds[0] ?? '', 'done');
  await streamed.reader.untilType('tool_result');
  expect(await deadlineOf(streamed)).toBeNull();
  await streamed.reader.leave();
});

it('a repeated report of a bridge about a question counts once', async () => {
  const { model, bridge, callId, streamed } = await question();
  bridge.ask(callId);
  bridge.resolve(callId);
  bridge.resolve(callId);
  bridge.succeed(callId, 'ran');
  (await model.next()).answer({ text: 'Done.' });
  const types = (await streamed.reader.toEnd()).map(({ event }) => event.type);
  expect(types.filter((type) => type.startsWith('approval_'))).toEqual([
    'approval_request',
    'approval_resolved',
  ]);
});

it('another question about a call takes the place of the first, on every device and for every answer', async () => {
  const { bridge, callId, streamed } = await question();
  void answer(streamed, callId, once);
  expect((await bridge.next('approval')).answer.nonce).toBe(NONCE);
  const proposal = { ...PROPOSAL, command: 'make clean' };
  const second = { nonce: 'the-second-question', proposal };
  bridge.ask(callId, second);
  const events = await streamed.reader.until(
    (seen) => seen.filter(({ event }) => event.type === 'approval_request').length === 2,
  );
  expect(
    events.map(({ event }) => event).filter(({ type }) => type.startsWith('approval_')),
  ).toEqual([
    expect.objectContaining({ type: 'approval_request', nonce: NONCE }),
    expect.objectContaining({ type: 'approval_resolved', decision: 'superseded' }),
    expect.objectContaining({ type: 'approval_request', ...second }),
  ]);
  expect(await errorOf(await answer(streamed, callId, once))).toMatchObject({ status: 409 });
  // What still comes of the first one changes nothing, and its answer is not kept.
  bridge.resolve(callId);
  bridge.send({ type: 'approval_refused', callId, nonce: NONCE, message: 'Too late.' });
  void answer(streamed, callId, { ...once, nonce: second.nonce });
  expect((await bridge.next('approval')).answer.nonce).toBe(second.nonce);
  expect((await readResponse(streamed.responseId)).status).toBe('waiting');
  await streamed.reader.leave();
});

it('a question that its bridge takes back is dropped on every device, and its call runs on', async () => {
  const { model, bridge, callId, streamed } = await question();
  void answer(streamed, callId, once);
  await bridge.next('approval');
  bridge.resolve(callId, { decision: 'superseded', by: 'drawbridge' });
  const events = await streamed.reader.untilType('approval_resolved');
  expect(events.at(-1)?.event).toMatchObject({ decision: 'superseded', by: 'drawbridge' });
  expect((await readResponse(streamed.responseId)).status).toBe('streaming');
  expect(await errorOf(await answer(streamed, callId, once))).toMatchObject({ status: 409 });
  bridge.succeed(callId, 'ran');
  (await model.next()).answer({ text: 'Done.' });
  await streamed.reader.toEnd();
});

it('a refused answer is not sent again', async () => {
  const { bridge, callId, streamed } = await question();
  void answer(streamed, callId, once);
  await bridge.next('approval');
  bridge.send({ type: 'approval_refused', callId, nonce: NONCE, message: 'Badly signed.' });
  bridge.succeed(newCallId(crypto.randomUUID()), '');
  await bridge.next('ack');
  const back = await openBridge({ bridgeId: bridge.bridgeId });
  expect((await back.greet()).answers).toEqual([]);
  await streamed.reader.leave();
});

it('a question that no row can hold fails its call, and the bridge asks no longer', async () => {
  const { model, bridge, callId, streamed } = await question();
  const command = 'x'.repeat(RUN_LIMITS.maxProposalBytes);
  bridge.ask(callId, { nonce: 'large', proposal: { ...PROPOSAL, command } });
  expect((await bridge.next('cancel')).callId).toBe(callId);
  (await model.next()).answer({ text: 'Hm.' });
  const { event } = (await streamed.reader.toEnd()).find(
    (seen) => seen.event.type === 'tool_result',
  ) ?? { event: null };
  expect(event).toMatchObject({ result: { status: 'error' } });
});

it('an answer is forgotten with its call', async () => {
  const { bridge, callId, streamed } = await question();
  void answer(streamed, callId, once);
  await bridge.next('approval');
  bridge.succeed(callId, 'ran');
  await bridge.next('ack');
  const back = await openBridge({ bridgeId: bridge.bridgeId });
  expect((await back.greet()).answers).toEqual([]);
  await streamed.reader.leave();
});

it('the alarm checks an allowed call again at the end of its own time', async () => {
  const { bridge, callId, streamed } = await question();
  const stub = conversationObject(streamed.conversationId);
  const clock = shiftClock(2 * RUN_LIMITS.callDeadlineMs);
  await runDurableObjectAlarm(stub);
  bridge.resolve(callId, { by: 'terminal' });
  await streamed.reader.untilType('approval_resolved');
  const alarm = await runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
  expect(alarm).toBeLessThanOrEqual(Date.now() + RUN_LIMITS.callDeadlineMs);
  clock.aheadMs = 0;
  await streamed.reader.leave();
});

it.each<[string, (asked: Question) => Promise<unknown>]>([
  ['its run is cancelled', ({ streamed }) => cancel(streamed.responseId)],
  [
    'its call ends without an answer',
    async ({ bridge, callId, model }) => {
      bridge.finish(callId, { status: 'error', code: 'UNKNOWN_OUTCOME', data: 'Restarted.' });
      (await model.next()).answer({ text: 'Hm.' });
    },
  ],
])('a question is withdrawn when %s', async (_, end) => {
  const asked = await question();
  await end(asked);
  const events = await asked.streamed.reader.toEnd();
  expect(events.find(({ event }) => event.type === 'approval_resolved')?.event).toMatchObject({
    decision: 'expired',
    by: 'drawbridge',
  });
  const { documents, status } = await readResponse(asked.streamed.responseId);
  expect(status).not.toBe('waiting');
  expect(documents[0]?.metadata).not.toHaveProperty('approval');
  expect((await answer(asked.streamed, asked.callId, once)).status).toBeGreaterThanOrEqual(404);
});

interface Question {
  readonly model: HeldModel;
  readonly bridge: ScriptedBridge;
  readonly callId: string;
  readonly streamed: Streamed;
}

/** A run whose one call waits for a person. */
async function question(): Promise<Question> {
  const model = holdModel();
  const bridge = await connectBridge();
  const streamed = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  bridge.ask(callId);
  await streamed.reader.untilType('approval_request');
  return { model, bridge, callId, streamed };
}

/** A run with two calls that its bridge has. */
async function twoCalls() {
  const model = holdModel();
  const bridge = await connectBridge();
  const streamed = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('one'), runCommand('two')] });
  const callIds = [(await bridge.nextCall()).callId, (await bridge.nextCall()).callId];
  return { bridge, streamed, callIds };
}

function deadlineOf({ conversationId }: Streamed): Promise<unknown> {
  return runInDurableObject(
    conversationObject(conversationId),
    (_, { storage }) => storage.sql.exec('select deadline from runs').one()['deadline'],
  );
}

function answer(
  { conversationId }: Streamed,
  callId: string,
  body: object,
  account = 'ada',
): Promise<Response> {
  return call(`conversations/${conversationId}/approvals/${callId}`, { body, account });
}
