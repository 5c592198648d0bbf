import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectName } from '../../../local/state/folder.ts';
import { openProjectState, openServerState } from '../../../local/state/state.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { runDrawbridge } from '../drawbridge.ts';

test('a backup is not written where an agent could read the keys in it', async () => {
  const { env, workspace, serverDir } = await newMachine();
  const inner = join(workspace, 'inner');
  mkdirSync(inner);
  const link = join(temporaryFolder(), 'link');
  symlinkSync(inner, link);
  for (const folder of [workspace, inner, link]) {
    const file = join(folder, 'backup.tar');
    for (const place of [[], ['--state', serverDir]]) {
      const { code, stderr } = await runDrawbridge(['backup', file, ...place], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`in the workspace ${workspace}`)]);
      expect(existsSync(file)).toBe(false);
    }
  }
  const elsewhere = join(temporaryFolder(), 'backup.tar');
  expect((await runDrawbridge(['backup', elsewhere], { env })).code).toBe(0);
});

test('nor in a folder that is on the list of a server of its own', async () => {
  const { env } = await newMachine();
  const workspace = realpathSync(temporaryFolder());
  const stateDir = join(temporaryFolder(), 'state');
  await openServerState(stateDir);
  writeFileSync(join(stateDir, 'projects.json'), JSON.stringify({ projects: [workspace] }));
  const file = join(workspace, 'backup.tar');
  const { code, stderr } = await runDrawbridge(['backup', file, '--state', stateDir], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`in the workspace ${workspace}`)]);
  const named = ['--state', stateDir, '--workspace', temporaryFolder()];
  const other = join(named[3] ?? '', 'backup.tar');
  expect((await runDrawbridge(['backup', other, ...named], { env })).code).toBe(2);
});

/** A home with a shared server that knows one project. */
async function newMachine() {
  const home = temporaryFolder();
  const workspace = realpathSync(temporaryFolder());
  const serverDir = join(home, 'state', 'drawbridge', 'server');
  const state = await openServerState(serverDir);
  mkdirSync(join(serverDir, 'projects'), { recursive: true, mode: 0o700 });
  await openProjectState(state, join(serverDir, 'projects', projectName(workspace)));
  return { env: { HOME: home, XDG_STATE_HOME: join(home, 'state') }, workspace, serverDir };
}
