import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type WorktreeFacts, WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';

const ID = 'conv_00000000-0000-4000-8000-000000000000';

const FACTS: WorktreeFacts = {
  conversationId: ID,
  branch: 'drawbridge/x\u001b[2J',
  base: 'a'.repeat(40),
  prefix: '',
  objects: '/objects',
  uncommitted: false,
  links: [],
  notes: [],
  createdMs: 0,
  head: null,
};

test('worktrees are listed and removed', async () => {
  const { workspaceDir, stateDir } = newPlace();
  await mkdir(stateDir);
  const store = new WorktreeStore(stateDir);
  const { tree } = store.begin(ID);
  onTestFinished(() => rm(store.folder, { recursive: true, force: true }));
  await mkdir(tree);
  await writeFile(join(tree, 'a.txt'), 'work\n');
  store.save(FACTS);
  const run = (...args: string[]) =>
    callDrawbridge(['worktrees', ...args, '--workspace', workspaceDir, '--state', stateDir]);
  const line = (state: string) =>
    expect.stringMatching(
      new RegExp(`^${ID}\\t\\d{4}-\\S+Z\\t${state}\\t"drawbridge/x\\\\u001b\\[2J"\n$`),
    );
  expect(await run()).toEqual({ code: 0, stdout: line('may hold uncommitted work'), stderr: '' });
  store.saveCommitted(FACTS);
  expect(await run('list')).toEqual({ code: 0, stdout: line('all committed'), stderr: '' });
  expect(await run('remove', 'conv_x', '--yes')).toMatchObject({
    stderr: expect.stringMatching(/There is no worktree conv_x: .*worktrees` lists them\.\n$/),
  });
  expect(await run('remove', ID)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(await run('remove', ID, '--yes')).toEqual({
    code: 0,
    stdout: line('all committed'),
    stderr: `Removed the worktree ${ID}.\n`,
  });
  expect(await run()).toEqual({ code: 0, stdout: '', stderr: 'There is no worktree.\n' });
});
