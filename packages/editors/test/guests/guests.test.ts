import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { newCallId } from '../../../../shared/ids.ts';
import { guestEdit } from '../../../../shared/tools/guest-edit.ts';
import { ALLOW_ONCE } from '../../../../shared/wire/approval-text.ts';
import type { Decision } from '../../../../shared/wire/policy.ts';
import { BridgeFrame, type GuestCall, type ToolCall } from '../../../../shared/wire/tunnel.ts';
import { newDevice } from '../../../../test/bridge/admission/device.ts';
import {
  Bench,
  nextQuestion,
  nextResult,
  settle,
} from '../../../../test/bridge/tunnel/session-bench.ts';
import type { DiffOutcome } from '../../companion/index.ts';

const device = await newDevice();
const guest = { id: 'session-1', family: 'gemini', program: 'Gemini CLI 1.2.3' } as const;

it('a guest’s change becomes a call of its conversation, and a yes says what to write', async () => {
  const { bench, outcome, call } = await proposed();
  const question = await nextQuestion(bench, call);
  expect(question.proposal).toMatchObject({
    kind: 'edit',
    tool: 'guest_edit',
    path: 'src/a.ts',
    operation: 'edit',
    diff: [{ oldString: 'one', newString: 'two' }],
  });
  bench.session.receive({ type: 'approval', answer: await device.approve(question) });
  expect(await outcome).toEqual({ decision: 'accepted', content: 'two\n' });
  expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
  expect(await bench.place.text('src/a.ts')).toBe('one\n');
});

it('the person’s own content is what the guest has to write', async () => {
  const { bench, outcome, call } = await proposed();
  const question = await nextQuestion(bench, call);
  const answer = await device.approve(question, { ...ALLOW_ONCE, content: '' });
  bench.session.receive({ type: 'approval', answer });
  expect(await outcome).toEqual({ decision: 'accepted', content: '' });
});

it('a no, and a cancelled run, are a no to the guest', async () => {
  const { bench, outcome, call } = await proposed();
  const { callId, nonce } = await nextQuestion(bench, call);
  bench.session.receive({ type: 'approval', answer: { callId, nonce, decision: 'reject' } });
  expect(await outcome).toEqual({ decision: 'rejected' });
  const next = await proposed();
  await nextQuestion(next.bench, next.call);
  next.bench.session.receive({ type: 'cancel', callId: next.call.callId });
  expect(await next.outcome).toEqual({ decision: 'rejected' });
});

it('a guest that has its answer withdraws the question', async () => {
  const { bench, call, closing } = await proposed();
  await nextQuestion(bench, call);
  closing.abort();
  await vi.waitUntil(() => bench.sent.some(({ type }) => type === 'approval_resolved'));
  expect(bench.resultsOf(call)).toEqual([]);
  expect(await nextResult(bench, call)).toEqual({
    status: 'error',
    code: 'CANCELLED',
    data: 'Gemini CLI 1.2.3 was answered itself, and has not written src/a.ts.',
  });
  const late = { ...call, callId: newCallId(crypto.randomUUID()) };
  expect(await bench.run(late)).toMatchObject({ code: 'GUEST_GONE' });
});

describe('a guest that was answered itself', () => {
  const written = {
    status: 'success',
    metadata: expect.objectContaining({ filePath: 'src/a.ts' }),
    data: 'Gemini CLI 1.2.3 was answered itself, and has written src/a.ts as it proposed.',
  };

  it.for(['two\n', 'two\r\n', '\uFEFFtwo\n'])('and writes %j has made the change', async (text) => {
    const { bench, call, closing, filePath } = await proposed();
    await nextQuestion(bench, call);
    closing.abort();
    await writeFile(filePath, text);
    expect(await nextResult(bench, call)).toEqual(written);
  });

  it('and has written the file before it says so has made the change', async () => {
    const { bench, call, closing, filePath } = await proposed();
    await nextQuestion(bench, call);
    await writeFile(filePath, 'two\n');
    closing.abort();
    expect(await nextResult(bench, call)).toEqual(written);
  });

  it('and writes something else has an unknown outcome', async () => {
    const { bench, call, closing, filePath } = await proposed();
    await nextQuestion(bench, call);
    await writeFile(filePath, 'three\n');
    closing.abort();
    expect(await nextResult(bench, call)).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
  });

  it('has made the change also where its call comes later', async () => {
    const { bench, call, closing, filePath } = await proposed({ isSent: false });
    closing.abort();
    await writeFile(filePath, 'two\n');
    await settle();
    expect(await bench.run(call)).toMatchObject({ status: 'success' });
  });

  it('has an unknown outcome where the bridge may not read the file', async () => {
    const bench = await Bench.start({ decide: (): Decision => 'ask' }, {});
    const closing = new AbortController();
    const filePath = '/elsewhere/a.ts';
    void bench.guests.ask({ guest, filePath, newContent: 'x' }, closing.signal);
    const { callId, conversationId, path } = bench.sent.at(-1) as GuestCall;
    closing.abort();
    const args = { proposal: callId, path };
    const call: ToolCall = {
      callId,
      conversationId,
      tool: guestEdit.name,
      arguments: args,
      mode: 'agent',
    };
    expect(await bench.run(call)).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
  });

  it('does not keep a bridge from ending', async () => {
    const { bench, call, closing } = await proposed({ writeMs: 60_000 });
    await nextQuestion(bench, call);
    closing.abort();
    await bench.session.end();
    expect(bench.journal.lookup(call.callId)).toMatchObject({ state: 'finished' });
  });
});

it('a question for an edge that is away is sent when one is there', async () => {
  const bench = await Bench.start({ decide: () => 'ask' }, { 'a.ts': '' });
  const path = join(bench.place.root, 'a.ts');
  const ask = { guest, filePath: path, newContent: 'x' };
  bench.session.detach();
  void bench.guests.ask(ask, new AbortController().signal);
  expect(bench.sent).toEqual([]);
  bench.connect();
  const [sent] = bench.sent;
  expect(sent).toMatchObject({ type: 'guest_call', path: 'a.ts', program: guest.program });
  bench.session.detach();
  bench.connect();
  expect(bench.sent).toEqual([sent]);
});

it('changes of one session belong to one conversation', async () => {
  const bench = await Bench.start({}, {});
  for (const id of ['one', 'one', 'two']) {
    const diff = { guest: { ...guest, id }, filePath: '/elsewhere/a', newContent: '' };
    void bench.guests.ask(diff, new AbortController().signal);
  }
  const sent = bench.sent.filter((frame) => frame.type === 'guest_call');
  const [first, second, third] = sent.map(({ conversationId }) => conversationId);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(sent[0]).toMatchObject({ path: '/elsewhere/a' });
});

it.each([
  { odd: 'a long path', of: () => ({ filePath: `/${'a'.repeat(2000)}` }), frames: 0 },
  { odd: 'a relative path', of: () => ({ filePath: 'a.ts' }), frames: 0 },
  { odd: 'the workspace itself', of: (root: string) => ({ filePath: root }), frames: 1 },
  { odd: 'no name', of: () => ({ guest: { ...guest, program: '' } }), frames: 0 },
])('no frame is sent that would end the bridge: $odd', async ({ of, frames }) => {
  const bench = await Bench.start({}, {});
  const diff = { guest, filePath: '/a.ts', newContent: '', ...of(bench.place.root) };
  const closing = new AbortController();
  const outcome = bench.guests.ask(diff, closing.signal);
  expect(bench.sent.map((frame) => BridgeFrame.parse(frame).type)).toEqual(
    Array(frames).fill('guest_call'),
  );
  closing.abort();
  expect(await outcome).toEqual({ decision: 'accepted', content: '' });
});

it('an edge cannot have a change shown as that of another file, or in another conversation', async () => {
  const options = { decide: (): Decision => 'ask', devices: [device.key] };
  const bench = await Bench.start(options, { 'shown.ts': '' });
  bench.connect();
  const diff = { guest, filePath: '/elsewhere/.bashrc', newContent: 'x' };
  void bench.guests.ask(diff, new AbortController().signal);
  const { callId, conversationId } = bench.sent.at(-1) as GuestCall;
  const shown = { proposal: callId, path: 'shown.ts' };
  const others = [
    { callId, conversationId, arguments: shown },
    { callId: newCallId(crypto.randomUUID()), conversationId, arguments: shown },
  ];
  for (const other of others) {
    const call: ToolCall = { ...other, tool: guestEdit.name, mode: 'agent' };
    expect(await bench.run(call)).toMatchObject({ code: 'GUEST_GONE' });
  }
  expect(bench.sent.filter(({ type }) => type === 'approval_request')).toEqual([]);
});

/** A change of src/a.ts by a guest, up to its call. */
async function proposed({
  isSent = true,
  writeMs = 300,
}: {
  readonly isSent?: boolean;
  readonly writeMs?: number;
} = {}): Promise<{
  bench: Bench;
  outcome: Promise<DiffOutcome>;
  call: ToolCall;
  closing: AbortController;
  filePath: string;
}> {
  const options = { decide: (): Decision => 'ask', devices: [device.key], writeMs };
  const bench = await Bench.start(options, { 'src/a.ts': 'one\n' });
  const filePath = join(bench.place.root, 'src/a.ts');
  const closing = new AbortController();
  const outcome = bench.guests.ask({ guest, filePath, newContent: 'two\n' }, closing.signal);
  const frame = bench.sent.at(-1) as GuestCall;
  const { callId, conversationId, path } = frame;
  const args = { proposal: callId, path };
  const call: ToolCall = {
    callId,
    conversationId,
    tool: guestEdit.name,
    arguments: args,
    mode: 'agent',
  };
  if (isSent) bench.send(call);
  return { bench, outcome, call, closing, filePath };
}
