import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/local/temporary-folder.ts';
import { stateFolders } from '../../view/owners-choice.ts';

it('closes the whole state of the shared server, also where it is a link to another disk', async () => {
  const [home, disk] = [temporaryFolder(), temporaryFolder()].map((path) => realpathSync(path));
  const project = join(disk ?? '', 'server', 'projects', 'p');
  mkdirSync(project, { recursive: true });
  mkdirSync(join(home ?? '', 'drawbridge'));
  symlinkSync(join(disk ?? '', 'server'), join(home ?? '', 'drawbridge', 'server'));
  vi.stubEnv('XDG_STATE_HOME', home);
  const closed = await stateFolders(project);
  vi.unstubAllEnvs();
  expect(closed).toContain(join(home ?? '', 'drawbridge'));
  expect(closed).toContain(join(disk ?? '', 'server'));
});
