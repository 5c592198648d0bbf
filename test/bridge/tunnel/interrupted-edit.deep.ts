import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { sha256 } from '../../../machine/hash.ts';
import type { Decision } from '../../../shared/wire/policy.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { newDevice } from '../admission/device.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { Bench, newCall, nextQuestion, nextResult, UNKNOWN } from './session-bench.ts';

type Moment = 'before' | 'after';

/** Runs the call in a process of its own up to the moment, and kills it there. */
async function killAt(moment: Moment, call: ToolCall, place: TemporaryWorkspace): Promise<void> {
  const script = join(import.meta.dirname, 'interrupted-edit.ts');
  const path = join(place.root, '..', 'journal.jsonl');
  const options = JSON.stringify({ root: place.root, path, call, moment });
  const child = spawn(process.execPath, [script, options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    await vi.waitFor(() => expect(said).toBe('ready\n'));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

const replace = () =>
  newCall('str_replace', { file_path: 'a.txt', old_string: 'one', new_string: 'two' });
const create = () => newCall('write', { path: 'new/b.txt', contents: 'b' });
const remove = () => newCall('delete_file', { target_file: 'a.txt' });

/** A bridge after the one that was killed over this call, and what it makes of it. */
async function takeUp(
  moment: Moment,
  call: ToolCall,
  between: (place: TemporaryWorkspace) => Promise<void> = async () => {},
  decision: Decision = 'allow',
) {
  const place = await temporaryWorkspace({ 'a.txt': 'one\n' });
  await killAt(moment, call, place);
  await between(place);
  const device = await newDevice();
  const bench = Bench.over(place, { decide: () => decision, devices: [device.key] });
  bench.connect({ calls: [call] });
  return { bench, place, device };
}

const textOf = (place: TemporaryWorkspace, name: string) => place.text(name).catch(() => null);

describe('an edit that the bridge was killed over', () => {
  test.each([
    ['replaced', replace, 'a.txt', 'two\n', { diff: { oldString: 'one', newString: 'two' } }],
    ['created', create, 'new/b.txt', 'b', { operation: 'create' }],
    ['deleted', remove, 'a.txt', null, { operation: 'delete' }],
  ])('is a success where its file was %s before that', async (_, make, name, text, metadata) => {
    const call = make();
    const { bench, place } = await takeUp('after', call);
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success', metadata });
    expect(await textOf(place, name)).toBe(text);
  });

  test.each([
    ['replace', replace, 'a.txt', 'two\n'],
    ['create', create, 'new/b.txt', 'b'],
    ['delete', remove, 'a.txt', null],
  ])('is made where it was to %s a file and had not done so', async (_, make, name, text) => {
    const call = make();
    const { bench, place } = await takeUp('before', call);
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(await textOf(place, name)).toBe(text);
  });

  test.each([
    ['before', replace],
    ['after', replace],
    ['before', create],
    ['after', create],
  ] as const)('has an unknown outcome where its file is another one: %s', async (moment, make) => {
    const call = make();
    const { bench, place } = await takeUp(moment, call, async ({ put }) => {
      await put('a.txt', 'one and more\n');
      await put('new/b.txt', 'c');
    });
    expect(await nextResult(bench, call)).toEqual(UNKNOWN);
    expect(await place.text('a.txt')).toBe('one and more\n');
    expect(await place.text('new/b.txt')).toBe('c');
  });

  test('is asked about where it was not made and the rules ask now, also by the one after that', async () => {
    const call = replace();
    const { bench, place, device } = await takeUp('before', call, undefined, 'ask');
    const question = await nextQuestion(bench, call);
    const [beforeHash, afterHash] = ['one\n', 'two\n'].map((text) => sha256(Buffer.from(text)));
    expect(question.proposal).toMatchObject({ kind: 'edit', beforeHash, afterHash });
    bench.restart();
    bench.connect({ calls: [call] });
    const again = await nextQuestion(bench, call);
    expect(again).toEqual(question);
    expect(await place.text('a.txt')).toBe('one\n');
    bench.session.receive({ type: 'approval', answer: await device.approve(again) });
    expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
    expect(await place.text('a.txt')).toBe('two\n');
  });

  test('counts what it was made from as read', async () => {
    const call = replace();
    const { bench, place } = await takeUp('after', call);
    await nextResult(bench, call);
    const whole = newCall('write', { path: 'a.txt', contents: 'three\n' });
    expect(await bench.run(whole)).toMatchObject({ status: 'success' });
    expect(await place.text('a.txt')).toBe('three\n');
  });
});
