import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fromText } from '../../../../machine/byte-path.ts';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { WorkspaceScan } from '../../closed/scan.ts';

it('a look at a workspace that was moved behind a link says that it knows nothing', async () => {
  const folder = await temporaryFolder();
  const root = join(folder, 'work');
  await mkdir(root);
  await writeFile(join(root, '.env'), 'KEY=1');
  const scan = new WorkspaceScan(fromText(root));
  expect(await scan.look(1_000)).toMatchObject({ entries: [{}], isCut: false });
  await rename(root, join(folder, 'moved'));
  await symlink('moved', root);
  expect(await scan.look(1_000)).toMatchObject({ isCut: true });
});
