import { writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeCall } from '../../../bridge/admission/policy.ts';
import { Checkpoints } from '../../../bridge/checkpoints/checkpoints.ts';
import { CHECKPOINT_LIMITS } from '../../../bridge/checkpoints/limits.ts';
import { undoTools } from '../../../bridge/checkpoints/tools.ts';
import { createCommandTools } from '../../../bridge/commands/feature.ts';
import { sha256 } from '../../../machine/hash.ts';
import { unconfined } from '../../../packages/sandbox/launch/confinement.ts';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { background } from '../commands/command-tools.ts';
import { temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { Bench, newCall } from '../tunnel/session-bench.ts';

keepFoldersInMemory();

const FILES = {
  'a.txt': 'one\n',
  'with blank.txt': 'two\n',
  'sub/b.bin': Uint8Array.from([0, 1, 255]),
  'sub/deep/c.txt': 'c\n',
  'linked/d.txt': 'd\n',
  'made/node_modules/e.js': 'e\n',
  'large.txt': 'x'.repeat(CHECKPOINT_LIMITS.maxFileBytes + 1),
  'with/large.txt': 'x'.repeat(CHECKPOINT_LIMITS.maxFileBytes + 1),
};

/** Commands run without a sandbox, and are judged as those in one. `onJudged` is called after each verdict. */
async function deletingBench(onJudged = () => {}) {
  const place = await temporaryWorkspace(FILES);
  await symlink(place.path('sub'), place.path('linked/link'));
  const stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  const checkpoints = Checkpoints.open(stateDir);
  if (!checkpoints) throw new Error('no checkpoints');
  const surroundings = {
    workspace: place.root,
    home: '/nonexistent',
    closedFolders: [],
    maskFolder: join(stateDir, 'masks'),
    environment: { PATH: process.env['PATH'] },
  };
  const confinement = unconfined(surroundings, 'as a test');
  const commands = createCommandTools({ confinement, background });
  const policy = { workspace: place.root, isConfined: true, userRules: [], workspaceRules: [] };
  const bench = Bench.over(place, {
    checkpoints,
    tools: [...commands.values(), ...undoTools(checkpoints).values()],
    decide: (call) => {
      const { decision } = judgeCall(call, policy);
      onJudged();
      return decision;
    },
  });
  const run = responseIdOf(newConversationId(crypto.randomUUID()), 1);
  const command = (line: string, more: object = {}) => ({
    ...newCall('run_terminal_cmd', { command: line, ...more }),
    run,
  });
  expect(await bench.run(command('true'))).toMatchObject({ status: 'success' });
  return { place, bench, run, command, checkpoints };
}

test('a deletion that undo can take back asks nobody, and undo takes it back', async () => {
  const { place, bench, run, command } = await deletingBench();
  await place.put('new.txt', 'just written\n');
  for (const line of [
    'rm a.txt && rm -f "with blank.txt" missing.txt; echo done',
    'rm -rf sub',
    'unlink new.txt',
  ]) {
    expect(await bench.run(command(line)), line).toMatchObject({ status: 'success' });
  }
  for (const name of ['a.txt', 'with blank.txt', 'sub/b.bin', 'sub/deep/c.txt', 'new.txt'])
    await expect(place.text(name), name).rejects.toMatchObject({ code: 'ENOENT' });
  const undo = { ...newCall('undo_changes', { scope: 'response', id: run }), run };
  expect(await bench.run(undo)).toMatchObject({ status: 'success' });
  for (const name of ['a.txt', 'with blank.txt', 'sub/b.bin', 'sub/deep/c.txt'] as const)
    expect(await place.text(name), name).toBe(Buffer.from(FILES[name]).toString());
  expect(await place.text('new.txt')).toBe('just written\n');
});

test.each([
  ['a file that is too large to be kept', 'rm large.txt'],
  ['a folder with such a file', 'rm -r with'],
  ['a folder with a link', 'rm -r linked'],
  ['a file behind a link', 'rm linked/link/b.bin'],
  ['what programs can make again', 'rm -r made'],
  ['a path out of the workspace', 'rm -f ../state/masks'],
  ['the workspace', 'rm -rf "$PWD"'],
  ['names that the shell finds', 'rm *.txt'],
  ['another folder', 'cd sub && rm deep/c.txt'],
  ['what another command has put there', 'mv large.txt b.txt; rm b.txt'],
  ['a loop', 'while rm a.txt; do true; done < x'],
])('a deletion of %s asks', async (_, line) => {
  const { bench, command } = await deletingBench();
  expect(await bench.ask(command(line))).toBeDefined();
});

test.each([
  ['that undo can keep', 'other\n'],
  ['that is too large for undo', 'x'.repeat(CHECKPOINT_LIMITS.maxFileBytes + 1)],
])('a file %s, put there between the verdict and the start, is not lost', async (_, text) => {
  let verdicts = Number.NEGATIVE_INFINITY;
  const { place, bench, command, checkpoints } = await deletingBench(() => {
    verdicts++;
    // Each call is judged when it comes, and once more before its start.
    if (verdicts === 2) writeFileSync(place.path('a.txt'), text);
  });
  verdicts = 0;
  const result = await bench.run(command('rm a.txt'));
  if (text.length < CHECKPOINT_LIMITS.maxFileBytes) {
    expect(result).toMatchObject({ status: 'success' });
    expect(checkpoints.contents.isPromised(sha256(text))).toBe(true);
    return;
  }
  expect(result).toMatchObject({ status: 'error', code: 'STALE' });
  expect(await place.text('a.txt')).toBe(text);
  expect(await bench.ask(command('rm a.txt'))).toBeDefined();
});

test('a deletion in the background asks: nobody knows when its changes end', async () => {
  const { bench, command } = await deletingBench();
  expect(await bench.ask(command('rm a.txt', { is_background: true }))).toBeDefined();
});
