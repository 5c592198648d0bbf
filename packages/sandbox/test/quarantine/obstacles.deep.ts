import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRules } from '../../../../bridge/admission/rules.ts';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { findObstacles } from '../../quarantine/obstacles.ts';

test('a folder with too many entries is reported, and the rest is looked at', async () => {
  const { root: workspace } = await temporaryWorkspace({ 'a/file': '', 'b/file': '' });
  execFileSync('bash', ['-c', 'seq 100001 | xargs touch'], { cwd: join(workspace, 'a') });
  execFileSync('mkfifo', [join(workspace, 'b/.gitignore')]);
  const stateDir = join(workspace, '../state');
  await mkdir(stateDir);
  const found = await findObstacles({ workspace, stateDir, readRules }, { mayMove: false });
  expect(found.map(({ sentence }) => sentence).toSorted()).toEqual([
    'a was not looked into: it holds too many entries to look at.',
    expect.stringContaining('b/.gitignore is a pipe'),
  ]);
});
