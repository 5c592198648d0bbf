import { beforeEach, describe, expect, test, vi } from 'vitest';
import { REFUSALS } from '../../../bridge/admission/askers.ts';
import { sha256 } from '../../../machine/hash.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { ALLOW_ONCE } from '../../../shared/wire/approval-text.ts';
import type { ApprovalQuestion, Proposal } from '../../../shared/wire/approvals.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { type Device, newDevice } from '../admission/device.ts';
import { Bench, newCall, nextQuestion, nextResult, scriptedTool } from './session-bench.ts';

keepFoldersInMemory();

const REASON = 'the test says so';

let device: Device;
beforeEach(async () => {
  device = await newDevice();
});

const newWrite = () => newCall('write', { path: 'a.txt', contents: 'x' });
const request = ({ callId, nonce, proposal }: ApprovalQuestion) => ({
  type: 'approval_request',
  callId,
  nonce,
  proposal,
  reason: REASON,
  newText: 'x',
});
const resolved = ({ callId, nonce }: ApprovalQuestion) => ({
  type: 'approval_resolved',
  callId,
  nonce,
  decision: 'once',
  by: 'device',
});

/** A bridge that has just asked about a call. */
async function ask(call: ToolCall): Promise<{ bench: Bench; question: ApprovalQuestion }> {
  const bench = await Bench.start({ decide: () => 'ask', devices: [device.key] });
  bench.send(call);
  return { bench, question: await nextQuestion(bench, call) };
}

describe('a call that a person is asked about', () => {
  test('runs when an enrolled device has signed it', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    const answer = await device.approve(question);
    bench.session.receive({ type: 'approval', answer });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(bench.sent.slice(0, -1)).toEqual([request(question), resolved(question)]);
  });

  test('runs without its question once a yes to an earlier one allows it', async () => {
    let decision: 'ask' | 'allow' = 'ask';
    const decide = vi.fn(() => decision);
    const bench = await Bench.start({ decide, devices: [device.key] });
    const [first, second] = [newWrite(), newCall('write', { path: 'b.txt', contents: 'y' })];
    const question = await bench.ask(first);
    const decided = decide.mock.calls.length;
    bench.send(second);
    await vi.waitUntil(() => decide.mock.calls.length > decided);
    decision = 'allow';
    bench.session.receive({ type: 'approval', answer: await device.approve(question) });
    expect(await nextResult(bench, second)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('b.txt')).toBe('y');
    expect(bench.sent.filter(({ type }) => type === 'approval_request')).toHaveLength(1);
  });

  test('writes the content that a device has signed instead', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    const answer = await device.approve(question, { ...ALLOW_ONCE, content: '' });
    bench.session.receive({ type: 'approval', answer: { ...answer, content: 'more' } });
    await vi.waitUntil(() => bench.sent.at(-1)?.type === 'approval_refused');
    bench.session.receive({ type: 'approval', answer });
    const result = await nextResult(bench, call);
    expect(result).toMatchObject({ status: 'success', data: expect.stringContaining('-x') });
    expect(await bench.place.text('a.txt')).toBe('');
    expect(bench.sent.at(-2)).toEqual(resolved(question));
  });

  test('that is no edit takes no content', async () => {
    const { bench, question } = await ask(newCall('grep', { pattern: 'a' }));
    const answer = await device.approve(question, { ...ALLOW_ONCE, content: 'b' });
    bench.session.receive({ type: 'approval', answer });
    await vi.waitUntil(() => bench.sent.length === 2);
    expect(bench.sent.at(-1)).toMatchObject({
      type: 'approval_refused',
      message: expect.stringContaining('Only a change to a file'),
    });
  });

  test('is shown with the arguments that run, under their own names and no others', async () => {
    const args = { path: 'a.txt', contents: 'x', content: 'y', hidden: 'z' };
    const call = newCall('write', args);
    const { bench, question } = await ask(call);
    const hunk = { oldString: '', newString: 'x', startLine: 1, endLine: 1 };
    expect(question.proposal).toEqual({
      kind: 'edit',
      tool: 'write',
      path: 'a.txt',
      operation: 'create',
      diff: [hunk],
      beforeHash: null,
      afterHash: sha256(Buffer.from('x')),
    });
    bench.session.receive({ type: 'approval', answer: await device.approve(question) });
    await nextResult(bench, call);
    expect(await bench.place.text('a.txt')).toBe('x');
  });

  test('is shown with the arguments that run where it is no edit, and with no others', async () => {
    const { question } = await ask(newCall('grep', { pattern: 'a', hidden: 'b' }));
    const shown = { pattern: 'a', output_mode: 'content' };
    expect(question.proposal).toEqual({ kind: 'call', tool: 'grep', arguments: shown });
  });

  test('is refused where it is too large for anyone to read', async () => {
    const { tool } = scriptedTool('command', { effect: 'execute' });
    const bench = await Bench.start({ decide: () => 'ask', tools: [tool] });
    const call = newCall('command', { text: 'x'.repeat(RUN_LIMITS.maxProposalBytes) });
    expect(await bench.run(call)).toMatchObject({ code: 'PROPOSAL_TOO_LARGE' });
    expect(bench.sent.map(({ type }) => type)).toEqual(['result']);
  });

  test('does not run when it is rejected, and the model hears why', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    const { callId, nonce } = question;
    const answer = { callId, nonce, decision: 'reject', message: 'not today' } as const;
    bench.session.receive({ type: 'approval', answer });
    expect(await nextResult(bench, call)).toEqual({
      status: 'error',
      code: 'REJECTED',
      data: 'The person rejected this call. They said: not today',
    });
    await expect(bench.place.text('a.txt')).rejects.toThrow('ENOENT');
  });

  test('waits on after each answer that does not count, and reports it', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    const { callId, nonce } = question;
    const stranger = await newDevice();
    const good = await device.approve(question);
    const signature = { ...(await stranger.approve(question)).signature };
    const changed = { ...question.proposal, afterHash: sha256(Buffer.from('y')) } as Proposal;
    const always = { decision: 'allow', scope: 'always', pattern: null };
    const bad = [
      { callId, nonce, decision: 'once' as const },
      await stranger.approve(question),
      await device.approve({ ...question, proposal: changed }),
      { ...(await device.approve({ ...question, callId: newWrite().callId })), callId },
      await device.approve(question, always),
      { ...good, signature: { deviceId: device.key.deviceId, value: signature.value ?? '' } },
    ];
    for (const [index, answer] of bad.entries()) {
      bench.session.receive({ type: 'approval', answer });
      await vi.waitUntil(() => bench.sent.length === 2 + index);
    }
    const { notSigned, notEnrolled, otherSignature } = REFUSALS;
    const why = [notSigned, notEnrolled, ...bad.slice(2).map(() => otherSignature)];
    const refused = why.map((message) => ({ type: 'approval_refused', callId, nonce, message }));
    expect(bench.sent).toEqual([request(question), ...refused]);
    bench.session.receive({ type: 'approval', answer: good });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
  });

  test('takes neither a yes nor a no to another question', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    const other = { ...question, nonce: 'of-another-question' };
    const { callId, nonce } = other;
    const answers = [await device.approve(other), { callId, nonce, decision: 'reject' as const }];
    for (const answer of answers) bench.session.receive({ type: 'approval', answer });
    await vi.waitUntil(() => bench.sent.length === 3);
    const message = expect.stringContaining('Another question');
    const refused = { type: 'approval_refused', callId, nonce, message };
    expect(bench.sent).toEqual([request(question), refused, refused]);
  });
});

describe('a connection that comes back', () => {
  test('gets the open question again', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    bench.connect({ calls: [call] });
    expect(bench.sent).toEqual([request(question)]);
  });

  test('brings an answer with it, and is not asked again', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    bench.connect({ calls: [call], answers: [await device.approve(question)] });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(bench.sent.map(({ type }) => type)).toEqual(['approval_resolved', 'result']);
  });

  test('learns how a question ended meanwhile, as long as the call has no result', async () => {
    const { tool, runs } = scriptedTool('command', { effect: 'execute' });
    const bench = await Bench.start({
      decide: () => 'ask',
      devices: [device.key],
      tools: [tool],
    });
    const call = newCall('command');
    const question = await bench.ask(call);
    bench.session.detach();
    bench.session.receive({ type: 'approval', answer: await device.approve(question) });
    await vi.waitUntil(() => runs.length === 1);
    bench.connect({ calls: [call] });
    expect(bench.sent).toEqual([resolved(question)]);
    runs[0]?.end({ status: 'success', data: 'done' });
    await nextResult(bench, call);
    bench.connect({ calls: [call] });
    expect(bench.sent.map(({ type }) => type)).toEqual(['result']);
  });
});

describe('a bridge that starts again', () => {
  test('asks the same question with the same nonce, and takes the answer that waited', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    bench.restart();
    bench.connect({ calls: [call], answers: [await device.approve(question)] });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(bench.sent.slice(0, -1)).toEqual([request(question), resolved(question)]);
  });

  test('asks another question where the call says something else now', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    bench.restart();
    const changed = { ...call, arguments: { path: 'a.txt', contents: 'y' } };
    bench.connect({ calls: [changed], answers: [await device.approve(question)] });
    const next = await nextQuestion(bench, changed);
    await vi.waitUntil(() => bench.sent.length === 2);
    expect(next.nonce).not.toBe(question.nonce);
    expect(bench.sent.map(({ type }) => type)).toEqual(['approval_request', 'approval_refused']);
    await expect(bench.place.text('a.txt')).rejects.toThrow('ENOENT');
  });

  test('asks another question where the call is of another conversation now', async () => {
    const call = newWrite();
    const { bench, question } = await ask(call);
    bench.restart();
    const moved = { ...call, conversationId: call.conversationId.replace(/.{4}0000$/, 'ffff0000') };
    bench.connect({ calls: [moved] });
    expect((await nextQuestion(bench, moved)).nonce).not.toBe(question.nonce);
  });

  test('runs without another question what was allowed and had not begun', async () => {
    const { tool, runs } = scriptedTool('command', { effect: 'execute' });
    // The policy is judged once more between the answer and the start, and the process ends there.
    const decide = () => (bench.sent.length === 2 ? new Promise<'ask'>(() => {}) : 'ask');
    const bench: Bench = await Bench.start({ decide, devices: [device.key], tools: [tool] });
    const call = newCall('command');
    const question = await bench.ask(call);
    bench.session.receive({ type: 'approval', answer: await device.approve(question) });
    await vi.waitUntil(() => bench.sent.length === 2);
    bench.restart();
    bench.connect({ calls: [call] });
    await vi.waitUntil(() => runs.length === 1);
    expect(bench.sent).toEqual([resolved(question)]);
  });
});
