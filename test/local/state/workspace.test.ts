import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { resolveWorkspace } from '../../../local/state/workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';

afterEach(() => void vi.unstubAllEnvs());

test('a folder with config.json in it is no workspace, whether the file is there or a link leads to it', async () => {
  const config = temporaryFolder();
  const dotfiles = temporaryFolder();
  vi.stubEnv('XDG_CONFIG_HOME', config);
  const refused = (folder: string) =>
    expect(resolveWorkspace(folder)).rejects.toThrow(/must not contain .*config\.json, in which/);
  await refused(config);
  expect(await resolveWorkspace(dotfiles)).toBe(dotfiles);
  const folder = join(config, 'drawbridge');
  mkdirSync(folder);
  await refused(folder);
  writeFileSync(join(folder, 'config.json'), '{}');
  renameSync(join(folder, 'config.json'), join(dotfiles, 'ours.json'));
  symlinkSync(join(dotfiles, 'ours.json'), join(folder, 'config.json'));
  await refused(dotfiles);
});
