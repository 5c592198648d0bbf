import { chmod, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { HeldFolder } from '../../quarantine/held-folder.ts';
import { moveAway } from '../../quarantine/moving.ts';

test.skipIf(process.platform !== 'linux')(
  'a copy on another disk never runs with its owner’s rights',
  async () => {
    const { root } = await temporaryWorkspace();
    const other = await realpath(await mkdtemp('/dev/shm/drawbridge-moving-'));
    onTestFinished(() => rm(other, { recursive: true }));
    await writeFile(join(root, 'program'), '');
    await chmod(join(root, 'program'), 0o6755);
    await using from = await HeldFolder.open(root);
    await using to = await HeldFolder.open(other);
    await moveAway({ folder: from, name: 'program' }, { folder: to, name: '0' });
    expect((await stat(join(other, '0'))).mode & 0o7777).toBe(0o755);
  },
);
