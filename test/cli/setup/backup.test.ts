import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeArchive } from '../../../local/archive/archive.ts';
import { projectName } from '../../../local/state/folder.ts';
import { openProjectState, openServerState } from '../../../local/state/state.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';

test('a backup is not written where an agent could read the keys in it', async () => {
  const { env, workspace, serverDir } = await newMachine();
  const inner = join(workspace, 'inner');
  mkdirSync(inner);
  const link = join(temporaryFolder(), 'link');
  symlinkSync(inner, link);
  for (const folder of [workspace, inner, link]) {
    const file = join(folder, 'backup.tar');
    for (const place of [[], ['--state', serverDir]]) {
      const { code, stderr } = await callDrawbridge(['backup', file, ...place], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`in the workspace ${workspace}`)]);
      expect(existsSync(file)).toBe(false);
    }
  }
  const elsewhere = join(temporaryFolder(), 'backup.tar');
  expect((await callDrawbridge(['backup', elsewhere], { env })).code).toBe(0);
});

test('nor in a folder that is on the list of a server of its own', async () => {
  const { env } = await newMachine();
  const workspace = realpathSync(temporaryFolder());
  const stateDir = join(temporaryFolder(), 'state');
  await openServerState(stateDir);
  writeFileSync(join(stateDir, 'projects.json'), JSON.stringify({ projects: [workspace] }));
  const file = join(workspace, 'backup.tar');
  const { code, stderr } = await callDrawbridge(['backup', file, '--state', stateDir], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`in the workspace ${workspace}`)]);
  const named = ['--state', stateDir, '--workspace', temporaryFolder()];
  const other = join(named[3] ?? '', 'backup.tar');
  expect((await callDrawbridge(['backup', other, ...named], { env })).code).toBe(2);
});

test('a backup in the home folder, which can be no project, is one of the shared server', async () => {
  const { env } = await newMachine();
  const { code, stderr } = await callDrawbridge(['backup', 'state.tar'], { env, cwd: env.HOME });
  expect([code, stderr]).toEqual([0, '']);
  expect(existsSync(join(env.HOME, 'state.tar'))).toBe(true);
});

test('a backup lists what it cannot take, and a restore of a backup from the future says so', async () => {
  const { env, serverDir } = await newMachine();
  const kept = join(serverDir, 'quarantine');
  mkdirSync(kept);
  for (let n = 0; n < 7; n++) {
    writeFileSync(Buffer.concat([Buffer.from(`${kept}/n${n}-`), Buffer.from([0xff])]), '');
  }
  const folder = temporaryFolder();
  const file = join(folder, 'backup.tar');
  const made = await callDrawbridge(['backup', file], { env });
  expect([made.code, made.stderr]).toEqual([
    0,
    expect.stringMatching(/^Left out, because .* \(7\): quarantine\/n0-[^\n]+, …\n$/),
  ]);
  const ahead = join(folder, 'ahead.tar');
  const createdMs = Date.now() + 400 * 24 * 60 * 60 * 1000;
  await writeArchive(ahead, serverDir, { archive: 1, format: 0, writtenBy: '0.0.1', createdMs });
  const states = [];
  for (const name of ['one', 'two']) {
    const restored = await callDrawbridge(['restore', ahead, '--state', join(folder, name)], {
      env,
    });
    expect([restored.code, restored.stderr]).toEqual([
      0,
      expect.stringMatching(/^The backup is from a time [^\n]+clock[^\n]+\n$/),
    ]);
    states.push(JSON.parse(readFileSync(join(folder, name, 'state.json'), 'utf8')));
  }
  // One backup, two futures: no position of one is a position of the other.
  expect(states[1].firstPosition - states[0].firstPosition).toBeGreaterThanOrEqual(2 ** 22);
  for (const { restoredMs } of states) expect(restoredMs).toBeLessThan(createdMs);
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
