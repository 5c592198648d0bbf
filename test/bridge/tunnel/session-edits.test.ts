import { link, rename, symlink } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../../machine/hash.ts';
import { EDIT_LIMITS } from '../../../packages/edits/limits.ts';
import type { ApprovalQuestion } from '../../../shared/wire/approvals.ts';
import type { Decision } from '../../../shared/wire/policy.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { type Device, newDevice } from '../admission/device.ts';
import {
  Bench,
  newCall,
  nextQuestion,
  nextResult,
  nextRun,
  scriptedTool,
} from './session-bench.ts';

keepFoldersInMemory();

const FILES = { 'a.txt': 'one\ntwo\nthree\n' };
const CANCELLED = { status: 'error', code: 'CANCELLED' };

let device: Device;
/** What the rules say of the next call. */
let decision: Decision;
beforeEach(async () => {
  device = await newDevice();
  decision = 'ask';
});

const asking = (files: Record<string, string> = FILES) =>
  Bench.start({ decide: () => decision, devices: [device.key] }, files);
const replace = (old_string: string, new_string: string) =>
  newCall('str_replace', { file_path: 'a.txt', old_string, new_string });
const approve = async (bench: Bench, question: ApprovalQuestion) =>
  bench.session.receive({ type: 'approval', answer: await device.approve(question) });
const typesSent = (bench: Bench) => bench.sent.map(({ type }) => type);
const hash = (text: string) => sha256(Buffer.from(text));

const hardLink = ({ place }: Bench) => link(place.path('a.txt'), place.path('b.txt'));

async function readBy(bench: Bench, path = 'a.txt'): Promise<void> {
  const before = decision;
  decision = 'allow';
  await bench.run(newCall('read_file', { target_file: path }));
  decision = before;
  bench.sent.length = 0;
}

describe('an edit that a person is asked about', () => {
  test('is shown as what it changes, with both hashes', async () => {
    const bench = await asking();
    const call = replace('two', '2');
    const { proposal } = await bench.ask(call);
    expect(proposal).toEqual({
      kind: 'edit',
      tool: 'str_replace',
      path: 'a.txt',
      operation: 'edit',
      diff: [{ oldString: 'two', newString: '2', startLine: 2, endLine: 2 }],
      beforeHash: hash(FILES['a.txt']),
      afterHash: hash('one\n2\nthree\n'),
    });
  });

  test.each([
    ['text is not there', async () => {}, 'four', 'NOT_FOUND_IN_FILE'],
    ['file is a hard link', (bench: Bench) => hardLink(bench), 'two', 'HARD_LINK'],
  ])('is not asked about where its %s', async (_, prepare, text, code) => {
    const bench = await asking();
    await prepare(bench);
    expect(await bench.run(replace(text, '4'))).toMatchObject({ status: 'error', code });
    expect(typesSent(bench)).toEqual(['result']);
  });

  test('that is long is cut, says so, and is made as a whole', async () => {
    const bench = await asking();
    const contents = `${'x'.repeat(99)}\n`.repeat(20_000);
    const call = newCall('write', { path: 'b.txt', contents });
    const question = await bench.ask(call);
    const { maxProposedChars } = EDIT_LIMITS;
    expect(question.proposal).toMatchObject({
      diff: [{ oldString: '', newString: contents.slice(0, maxProposedChars) }],
      afterHash: hash(contents),
      cut: { chars: contents.length - maxProposedChars },
    });
    await approve(bench, question);
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('b.txt')).toBe(contents);
  });

  test('of a notebook is shown as the lines that it changes, the same each time', async () => {
    const cell = { cell_type: 'markdown', id: 'a', metadata: {}, source: ['# A'] };
    const notebook = { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 };
    const bench = await asking({ 'a.ipynb': `${JSON.stringify(notebook, null, 1)}\n` });
    await readBy(bench, 'a.ipynb');
    const target = { target_notebook: 'a.ipynb', mode: 'insert_after', cell_id: 'a' };
    const calls = [1, 2].map(() => newCall('edit_notebook', { ...target, new_string: 'x = 1' }));
    const questions: ApprovalQuestion[] = [];
    for (const call of calls) {
      const question = await bench.ask(call);
      questions.push(question);
      bench.sent.length = 0;
      bench.session.receive({ type: 'cancel', callId: call.callId });
      await nextResult(bench, call);
      bench.sent.length = 0;
    }
    const [first, second] = questions;
    expect(first?.proposal).toEqual(second?.proposal);
    expect(first?.proposal).toMatchObject({
      kind: 'edit',
      tool: 'edit_notebook',
      path: 'a.ipynb',
      operation: 'edit',
      diff: [{ startLine: 9, newString: expect.stringContaining('"x = 1"') }],
    });
  });

  test('is asked about anew where its file has changed meanwhile, and keeps that change', async () => {
    const bench = await asking();
    await readBy(bench);
    const call = replace('two', '2');
    const first = await bench.ask(call);
    await bench.place.put('a.txt', 'zero\none\ntwo\nthree\n');
    await approve(bench, first);
    const second = await nextQuestion(bench, call, 2);
    expect(bench.sent.slice(1)).toMatchObject([
      { type: 'approval_resolved', nonce: first.nonce, decision: 'superseded', by: 'drawbridge' },
      { type: 'approval_request', reason: expect.stringContaining('has changed since') },
    ]);
    expect(second.nonce).not.toBe(first.nonce);
    expect(await bench.place.text('a.txt')).toBe('zero\none\ntwo\nthree\n');
    await approve(bench, first);
    await approve(bench, second);
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('a.txt')).toBe('zero\none\n2\nthree\n');
  });

  test('fails where its text is gone meanwhile, and its question is void', async () => {
    const bench = await asking();
    const call = replace('two', '2');
    const question = await bench.ask(call);
    await bench.place.put('a.txt', 'one\n');
    await approve(bench, question);
    expect(await nextResult(bench, call)).toMatchObject({ status: 'error' });
    expect(bench.sent[1]).toMatchObject({ type: 'approval_resolved', decision: 'superseded' });
    expect(await bench.place.text('a.txt')).toBe('one\n');
  });

  test('of the whole file never overwrites what came meanwhile', async () => {
    const bench = await asking();
    await readBy(bench);
    const call = newCall('write', { path: 'a.txt', contents: 'new\n' });
    const question = await bench.ask(call);
    await bench.place.put('a.txt', 'mine\n');
    await approve(bench, question);
    expect(await nextResult(bench, call)).toMatchObject({ code: 'STALE' });
    expect(await bench.place.text('a.txt')).toBe('mine\n');
  });

  test('is made behind a command of its reply that has changed the file', async () => {
    const { tool, runs } = scriptedTool('format', { effect: 'execute' });
    const options = { decide: () => decision, devices: [device.key], tools: [tool] };
    const bench = await Bench.start(options, FILES);
    await readBy(bench);
    const [format, edit] = [newCall('format'), replace('two', '2')];
    bench.send(format, edit);
    await approve(bench, await nextQuestion(bench, format));
    const run = await nextRun(runs);
    await nextQuestion(bench, edit, 2);
    await bench.place.put('a.txt', 'one\ntwo\n');
    run.end({ status: 'success', data: 'formatted' });
    await approve(bench, await nextQuestion(bench, edit, 2));
    await approve(bench, await nextQuestion(bench, edit, 3));
    expect(await nextResult(bench, edit)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('a.txt')).toBe('one\n2\n');
  });

  test('is not made where the rules forbid it meanwhile', async () => {
    const bench = await asking();
    const call = replace('two', '2');
    const question = await bench.ask(call);
    decision = 'deny';
    await approve(bench, question);
    expect(await nextResult(bench, call)).toMatchObject({ code: 'DENIED' });
    expect(await bench.place.text('a.txt')).toBe(FILES['a.txt']);
  });

  test('is still made by the answer where the rules would not ask any more', async () => {
    const bench = await asking();
    const call = replace('two', '2');
    const question = await bench.ask(call);
    decision = 'allow';
    await approve(bench, question);
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(typesSent(bench)).toEqual(['approval_request', 'approval_resolved', 'result']);
  });
});

test('an edit that was let in is asked about where the rules ask by the time it is made', async () => {
  const decisions: Decision[] = ['allow', 'ask'];
  const bench = await Bench.start(
    { decide: () => decisions.shift() ?? 'ask', devices: [device.key] },
    FILES,
  );
  const call = replace('two', '2');
  const question = await bench.ask(call);
  expect(await bench.place.text('a.txt')).toBe(FILES['a.txt']);
  await approve(bench, question);
  expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
});

test('a read whose path leads to another file than when it was asked about is not done', async () => {
  const bench = await asking({ 'src/a.txt': 'a\n', 'other/a.txt': 'b\n' });
  const call = newCall('read_file', { target_file: 'src/a.txt' });
  const question = await bench.ask(call);
  await rename(bench.place.path('src'), bench.place.path('away'));
  await symlink('other', bench.place.path('src'));
  await approve(bench, question);
  expect(await nextResult(bench, call)).toMatchObject({
    code: 'DENIED',
    data: expect.stringContaining('led to another place'),
  });
});

describe('several edits of one file in one reply', () => {
  test('follow each other where they are allowed', async () => {
    decision = 'allow';
    const bench = await asking();
    const calls = [replace('one', '1'), replace('two', '2'), replace('1\n2', '12')];
    bench.send(...calls);
    for (const call of calls) {
      expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    }
    expect(await bench.place.text('a.txt')).toBe('12\nthree\n');
  });

  test('are asked about one after the other, each as what it changes then', async () => {
    const bench = await asking();
    const [first, second] = [replace('one', '1'), replace('two', '2')];
    bench.send(first, second);
    await approve(bench, await nextQuestion(bench, first));
    const question = await nextQuestion(bench, second, 2);
    expect(question.proposal).toMatchObject({ beforeHash: hash('1\ntwo\nthree\n') });
    expect(bench.sent.map((frame) => 'callId' in frame && frame.callId)).toEqual([
      ...[first.callId, first.callId, first.callId, second.callId],
    ]);
    await approve(bench, question);
    expect(await nextResult(bench, second)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('a.txt')).toBe('1\n2\nthree\n');
  });

  test('leave the file to others while a person thinks', async () => {
    const bench = await asking();
    const asked = replace('one', '1');
    const question = await bench.ask(asked);
    decision = 'allow';
    expect(await bench.run(replace('two', '2'))).toMatchObject({ status: 'success' });
    await approve(bench, question);
    await approve(bench, await nextQuestion(bench, asked, 2));
    expect(await nextResult(bench, asked)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('a.txt')).toBe('1\n2\nthree\n');
  });

  test('can be cancelled while they wait for the question before them', async () => {
    const bench = await asking();
    const [first, second] = [replace('one', '1'), replace('two', '2')];
    bench.send(first, second);
    const question = await nextQuestion(bench, first);
    bench.session.receive({ type: 'cancel', callId: second.callId });
    expect(await nextResult(bench, second)).toMatchObject(CANCELLED);
    await approve(bench, question);
    expect(await nextResult(bench, first)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('a.txt')).toBe('1\ntwo\nthree\n');
  });
});

describe('a bridge that starts again over an edit that it has asked about', () => {
  const writeAll = (): ToolCall => newCall('write', { path: 'a.txt', contents: 'new\n' });

  /** The bridge before has read the file, and asked. */
  async function restart() {
    const bench = await asking();
    await readBy(bench);
    const call = writeAll();
    const question = await bench.ask(call);
    bench.restart();
    return { bench, call, question };
  }

  test('asks the same question of the same file, which counts as read', async () => {
    const { bench, call, question } = await restart();
    bench.connect({ calls: [call], answers: [await device.approve(question)] });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(bench.sent[0]).toMatchObject({ type: 'approval_request', nonce: question.nonce });
    expect(await bench.place.text('a.txt')).toBe('new\n');
  });

  test('asks another question of another file', async () => {
    const bench = await asking();
    const call = replace('two', '2');
    const question = await bench.ask(call);
    bench.restart();
    await bench.place.put('a.txt', 'two\n');
    bench.connect({ calls: [call], answers: [await device.approve(question)] });
    const next = await nextQuestion(bench, call);
    expect(next.nonce).not.toBe(question.nonce);
    expect(await bench.place.text('a.txt')).toBe('two\n');
  });

  test('has every device drop the question where the rules do not ask any more', async () => {
    const { bench, call, question } = await restart();
    decision = 'allow';
    bench.connect({ calls: [call] });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(bench.sent[0]).toEqual({
      type: 'approval_resolved',
      callId: call.callId,
      nonce: question.nonce,
      decision: 'superseded',
      by: 'drawbridge',
    });
  });
});
