import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Checkpoints } from '../../../bridge/checkpoints/checkpoints.ts';
import { CHECKPOINT_LIMITS } from '../../../bridge/checkpoints/limits.ts';
import { undoTools } from '../../../bridge/checkpoints/tools.ts';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { Bench, newCall } from '../tunnel/session-bench.ts';

keepFoldersInMemory();

const FILES = { 'a.txt': 'one\n', 'b.txt': 'b\n', 'c.txt': 'c\n' };

test('calls that edit, write, delete and rename files are kept with their response, and undone together', async () => {
  const place = await temporaryWorkspace(FILES);
  const stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  const checkpoints = Checkpoints.open(stateDir);
  if (!checkpoints) throw new Error('no checkpoints');
  const bench = Bench.over(place, { checkpoints, tools: undoTools(checkpoints) });
  const run = responseIdOf(newConversationId(crypto.randomUUID()), 1);
  const calls = [
    newCall('str_replace', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }),
    newCall('write', { path: 'a.txt', contents: 'three\n' }),
    newCall('write', { path: 'new/file.txt', contents: 'new\n' }),
    newCall('delete_file', { target_file: 'b.txt' }),
    newCall('rename_file', { target_file: 'c.txt', new_path: 'moved.txt' }),
  ].map((call) => ({ ...call, run }));
  for (const call of calls) {
    const result = await bench.run(call);
    expect(result, JSON.stringify(result)).toMatchObject({ status: 'success' });
  }
  await writeFile(place.path('theirs.txt'), 'person\n');
  const undo = { ...newCall('undo_changes', { scope: 'response', id: run }), run };
  expect(await bench.run(undo)).toMatchObject({ status: 'success' });
  for (const [name, text] of Object.entries({ ...FILES, 'theirs.txt': 'person\n' }))
    expect(await readFile(place.path(name), 'utf8')).toBe(text);
  for (const name of ['new/file.txt', 'moved.txt'])
    await expect(readFile(place.path(name))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a person is asked about a deletion or an overwriting that could not be undone, and about no other', async () => {
  const large = 'x'.repeat(CHECKPOINT_LIMITS.maxFileBytes + 1);
  const place = await temporaryWorkspace({ ...FILES, 'large.txt': large });
  const stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  const checkpoints = Checkpoints.open(stateDir);
  if (!checkpoints) throw new Error('no checkpoints');
  const bench = Bench.over(place, { checkpoints });
  const small = newCall('delete_file', { target_file: 'b.txt' });
  expect(await bench.run(small)).toMatchObject({ status: 'success' });
  await bench.run(newCall('read_file', { target_file: 'large.txt', limit: 1 }));
  const deleting = newCall('delete_file', { target_file: 'large.txt' });
  await bench.ask(deleting);
  const asked = bench.sent.filter(({ type }) => type === 'approval_request');
  expect(asked).toMatchObject([{ reason: expect.stringContaining('could not be undone') }]);
  expect(await readFile(place.path('large.txt'), 'utf8')).toBe(large);
});

test('an undo says what it cannot bring back', async () => {
  const place = await temporaryWorkspace(FILES);
  const stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  const checkpoints = Checkpoints.open(stateDir);
  if (!checkpoints) throw new Error('no checkpoints');
  const bench = Bench.over(place, { checkpoints, tools: undoTools(checkpoints) });
  const run = responseIdOf(newConversationId(crypto.randomUUID()), 1);
  const deleting = { ...newCall('delete_file', { target_file: 'b.txt' }), run };
  expect(await bench.run(deleting)).toMatchObject({ status: 'success' });
  await rm(join(stateDir, 'checkpoints', 'contents'), { recursive: true });
  const undo = { ...newCall('undo_changes', { scope: 'response', id: run }), run };
  expect(await bench.run(undo)).toMatchObject({
    data: 'No file was changed. These could not be brought back: b.txt (a content that it had is not stored).',
  });
});
