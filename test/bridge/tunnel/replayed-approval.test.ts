/** A broken edge that sends again what a person has approved once. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { newCallId } from '../../../shared/ids.ts';
import type { ApprovalAnswer, ToolCall } from '../../../shared/wire/tunnel.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { type Device, newDevice } from '../admission/device.ts';
import {
  Bench,
  DONE,
  newCall,
  nextQuestion,
  nextResult,
  nextRun,
  type ScriptedRun,
  scriptedTool,
  settle,
} from './session-bench.ts';

keepFoldersInMemory();

let device: Device;
let runs: ScriptedRun[];
let bench: Bench;

beforeEach(async () => {
  device = await newDevice();
  const scripted = scriptedTool('command', { effect: 'execute' });
  runs = scripted.runs;
  bench = await Bench.start({ decide: () => 'ask', devices: [device.key], tools: [scripted.tool] });
});

/** A call that was asked about and allowed, ran, and was acked: the journal has forgotten it. */
async function runOnce(call: ToolCall): Promise<ApprovalAnswer> {
  bench.send(call);
  const answer = await device.approve(await nextQuestion(bench, call));
  bench.session.receive({ type: 'approval', answer });
  (await nextRun(runs)).end(DONE);
  await nextResult(bench, call);
  bench.session.receive({ type: 'ack', callId: call.callId });
  expect(bench.journal.calls).toEqual([]);
  return answer;
}

/** Delivers it once more with this answer, before and after its question. */
async function replay(call: ToolCall, answer: ApprovalAnswer): Promise<void> {
  bench.session.receive({ type: 'approval', answer });
  bench.send(call);
  bench.session.receive({ type: 'approval', answer });
  await vi.waitUntil(() => bench.sent.some(({ type }) => type === 'approval_refused'));
  bench.session.receive({ type: 'approval', answer });
  for (let count = 0; count < 5; count++) await settle();
}

describe('a call that is sent again with the signature that allowed it once', () => {
  test.each([
    ['in the same process', () => {}],
    ['after restarts of the bridge', () => bench.restart()],
  ])('runs once of five deliveries, %s', async (_, between) => {
    const call = newCall('command', { command: 'git push' });
    const answer = await runOnce(call);
    for (let count = 0; count < 4; count++) {
      between();
      bench.connect();
      await replay(call, answer);
      bench.session.receive({ type: 'cancel', callId: call.callId });
      expect(await nextResult(bench, call)).toMatchObject({ code: 'CANCELLED' });
      bench.session.receive({ type: 'ack', callId: call.callId });
    }
    expect(runs).toHaveLength(1);
  });

  test('does not run under another call id', async () => {
    const call = newCall('command', { command: 'git push' });
    const answer = await runOnce(call);
    const other = { ...call, callId: newCallId(randomUUID()) };
    await replay(other, { ...answer, callId: other.callId });
    expect(runs).toHaveLength(1);
  });

  test('is asked about with a nonce of its own each time', async () => {
    const call = newCall('command', { command: 'git push' });
    const nonces = new Set([(await runOnce(call)).nonce]);
    for (let count = 0; count < 4; count++) {
      bench.connect();
      bench.send(call);
      nonces.add((await nextQuestion(bench, call)).nonce);
      bench.session.receive({ type: 'cancel', callId: call.callId });
      await nextResult(bench, call);
      bench.session.receive({ type: 'ack', callId: call.callId });
    }
    expect(nonces.size).toBe(5);
  });

  test('does not run a second time where it was acked while it ran, and the bridge was killed', async () => {
    const call = newCall('command', { command: 'git push' });
    bench.send(call);
    const answer = await device.approve(await nextQuestion(bench, call));
    bench.session.receive({ type: 'approval', answer });
    await nextRun(runs);
    bench.session.receive({ type: 'ack', callId: call.callId });
    bench.restart();
    bench.connect({ calls: [call], answers: [answer] });
    expect(await nextResult(bench, call)).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    expect(runs).toHaveLength(1);
  });

  test('does not run a second time where its result was sent and never acked', async () => {
    const call = newCall('command', { command: 'git push' });
    bench.send(call);
    const answer = await device.approve(await nextQuestion(bench, call));
    bench.session.receive({ type: 'approval', answer });
    (await nextRun(runs)).end(DONE);
    await nextResult(bench, call);
    bench.restart();
    bench.connect({ calls: [call, call], answers: [answer] });
    expect([bench.resultsOf(call), runs.length]).toEqual([[DONE, DONE], 1]);
  });
});

test('a call that may run twice is asked about again after a crash in the middle of it', async () => {
  const scripted = scriptedTool('idempotent', { effect: 'write', idempotent: true });
  bench = await Bench.start({ decide: () => 'ask', devices: [device.key], tools: [scripted.tool] });
  const call = newCall('idempotent');
  const question = await bench.ask(call);
  const answer = await device.approve(question);
  bench.session.receive({ type: 'approval', answer });
  await nextRun(scripted.runs);
  bench.restart();
  bench.connect({ calls: [call], answers: [answer] });
  const next = await nextQuestion(bench, call);
  expect(next.nonce).not.toBe(question.nonce);
  bench.session.receive({ type: 'approval', answer: await device.approve(next) });
  (await nextRun(scripted.runs, 1)).end(DONE);
  expect(await nextResult(bench, call)).toEqual(DONE);
});
