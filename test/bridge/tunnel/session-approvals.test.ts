import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolCall } from '../../../shared/tunnel.ts';
import { type Device, newDevice } from '../approvals/device.ts';
import { Bench, newCall, nextResult, scriptedTool } from './session-bench.ts';

const REASON = 'the test says so';

let device: Device;
beforeEach(async () => {
  device = await newDevice();
});

const newWrite = () => newCall('write', { path: 'a.txt', contents: 'x' });
const subjectOf = ({ callId, tool, arguments: args }: ToolCall) => ({
  callId,
  toolName: tool,
  arguments: args,
});
const request = ({ callId }: ToolCall) => ({ type: 'approval_request', callId, reason: REASON });

/** A bridge that has just asked about a call. */
async function ask(call: ToolCall): Promise<Bench> {
  const bench = await Bench.start({ decide: () => 'ask', devices: [device.key] });
  bench.send(call);
  await vi.waitUntil(() => bench.sent.length === 1);
  return bench;
}

describe('a call that a person is asked about', () => {
  test('runs when an enrolled device has signed it', async () => {
    const call = newWrite();
    const bench = await ask(call);
    const answer = await device.approve(subjectOf(call));
    bench.session.receive({ type: 'approval', answer });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    const { callId } = call;
    expect(bench.sent.slice(0, -1)).toEqual([
      request(call),
      { type: 'approval_resolved', callId, decision: 'once', by: 'device' },
    ]);
  });

  test('does not run when it is rejected, and the model hears why', async () => {
    const call = newWrite();
    const bench = await ask(call);
    const { callId } = call;
    const answer = { callId, decision: 'reject', message: 'not today' } as const;
    bench.session.receive({ type: 'approval', answer });
    expect(await nextResult(bench, call)).toEqual({
      status: 'error',
      code: 'REJECTED',
      data: 'The person rejected this call. They said: not today',
    });
    await expect(bench.place.text('a.txt')).rejects.toThrow('ENOENT');
  });

  test('is asked about again after each answer that does not count', async () => {
    const call = newWrite();
    const bench = await ask(call);
    const { callId } = call;
    const stranger = await newDevice();
    const good = await device.approve(subjectOf(call));
    const signature = { ...(await stranger.approve(subjectOf(call))).signature };
    const bad = [
      { callId, decision: 'once' as const },
      await stranger.approve(subjectOf(call)),
      await device.approve({ ...subjectOf(call), arguments: { path: 'a.txt', contents: 'y' } }),
      { ...(await device.approve(subjectOf(newWrite()))), callId },
      { ...good, signature: { deviceId: device.key.deviceId, value: signature.value ?? '' } },
    ];
    for (const [index, answer] of bad.entries()) {
      bench.session.receive({ type: 'approval', answer });
      await vi.waitUntil(() => bench.sent.length === 2 + index);
    }
    const again = { ...request(call), reason: expect.stringContaining('not signed') };
    expect(bench.sent).toEqual([request(call), ...bad.map(() => again)]);
    bench.session.receive({ type: 'approval', answer: good });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
  });
});

describe('a connection that comes back', () => {
  test('is told the open question again', async () => {
    const call = newWrite();
    const bench = await ask(call);
    bench.connect({ calls: [call] });
    expect(bench.sent).toEqual([request(call)]);
  });

  test('brings an answer with it, and is not asked again', async () => {
    const call = newWrite();
    const bench = await ask(call);
    bench.connect({ calls: [call], answers: [await device.approve(subjectOf(call))] });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(bench.sent.map(({ type }) => type)).toEqual(['approval_resolved', 'result']);
  });

  test('brings the answer to a question that this process has yet to ask', async () => {
    const call = newWrite();
    const bench = await ask(call);
    bench.restart();
    bench.connect({ calls: [call], answers: [await device.approve(subjectOf(call))] });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
  });

  test('is told how a question ended meanwhile, as long as the call has no result', async () => {
    const { tool, runs } = scriptedTool('command', { effect: 'execute' });
    const bench = await Bench.start({
      decide: () => 'ask',
      devices: [device.key],
      tools: [tool],
    });
    const call = newCall('command');
    const { callId } = call;
    bench.send(call);
    await vi.waitUntil(() => bench.sent.length === 1);
    bench.session.detach();
    bench.session.receive({ type: 'approval', answer: await device.approve(subjectOf(call)) });
    await vi.waitUntil(() => runs.length === 1);
    bench.connect({ calls: [call] });
    expect(bench.sent).toEqual([
      { type: 'approval_resolved', callId, decision: 'once', by: 'device' },
    ]);
    runs[0]?.end({ status: 'success', data: 'done' });
    await nextResult(bench, call);
    bench.connect({ calls: [call] });
    expect(bench.sent.map(({ type }) => type)).toEqual(['result']);
  });
});
