import { rename, symlink } from 'node:fs/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { CallLimits, ToolCall } from '../../../shared/wire/tunnel.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { type Device, newDevice } from '../admission/device.ts';
import { Bench, newCall, nextQuestion, nextResult } from './session-bench.ts';

keepFoldersInMemory();

const FILES = { 'src/a.txt': 'a\n', 'lib/a.txt': 'secret\n' };
const LIMITS: CallLimits = { allowedPaths: ['src/'] };
const REFUSED = { status: 'error', code: 'PATH_NOT_ALLOWED' };

let device: Device;
beforeEach(async () => {
  device = await newDevice();
});

const limited = (call: ToolCall): ToolCall => ({ ...call, limits: LIMITS });
const newRead = (path: string) => limited(newCall('read_file', { target_file: path }));
const newWrite = (path: string) => limited(newCall('write', { path, contents: 'x' }));
const newEdit = (path: string) =>
  limited(newCall('str_replace', { file_path: path, old_string: '\n', new_string: 'x\n' }));
const approve = async (bench: Bench, call: ToolCall) =>
  device.approve(await nextQuestion(bench, call));

const asking = () => Bench.start({ decide: () => 'ask', devices: [device.key] }, FILES);
const question = (bench: Bench) =>
  vi.waitUntil(() => bench.sent.some(({ type }) => type === 'approval_request'));

describe('a call limited to some paths', () => {
  test('reaches these and no others; the next one without limits reaches all', async () => {
    const bench = await Bench.start({}, FILES);
    const calls = [newRead('src/a.txt'), newRead('lib/a.txt'), newWrite('lib/b.txt')];
    const free = newCall('read_file', { target_file: 'lib/a.txt' });
    bench.send(...calls, free);
    const results = await Promise.all([...calls, free].map((call) => nextResult(bench, call)));
    expect(results).toMatchObject([
      { status: 'success', data: '1|a' },
      REFUSED,
      REFUSED,
      { status: 'success', data: '1|secret' },
    ]);
    await expect(bench.place.text('lib/b.txt')).rejects.toThrow('ENOENT');
  });

  test('that leads to another path is refused without a question', async () => {
    const bench = await asking();
    const call = newWrite('lib/b.txt');
    expect(await bench.run(call)).toMatchObject(REFUSED);
    expect(bench.sent.map(({ type }) => type)).toEqual(['result']);
  });

  test('with wrong arguments hears what is wrong with them', async () => {
    const bench = await Bench.start({}, FILES);
    const call = limited(newCall('read_file', { target_file: 7 }));
    expect(await bench.run(call)).toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  test.each([
    ['read', newRead],
    ['written', newEdit],
  ])(
    'is held to them by where its path leads when it is %s, not when it was asked about',
    async (_, make) => {
      const bench = await asking();
      const call = make('src/a.txt');
      bench.send(call);
      await question(bench);
      await rename(bench.place.path('src'), bench.place.path('away'));
      await symlink('lib', bench.place.path('src'));
      bench.session.receive({ type: 'approval', answer: await approve(bench, call) });
      expect(await nextResult(bench, call)).toMatchObject(REFUSED);
      expect(await bench.place.text('lib/a.txt')).toBe('secret\n');
    },
  );

  test('is held to them by the next process, too', async () => {
    const bench = await asking();
    const call = newWrite('src/new/a.txt');
    bench.send(call);
    await question(bench);
    bench.restart();
    await symlink('../lib', bench.place.path('src/new'));
    bench.connect({ calls: [call], answers: [await approve(bench, call)] });
    expect(await nextResult(bench, call)).toMatchObject(REFUSED);
    expect(await bench.place.text('lib/a.txt')).toBe('secret\n');
  });
});
