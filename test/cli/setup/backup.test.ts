import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { writeArchive } from '../../../local/archive/archive.ts';
import { projectName } from '../../../local/state/folder.ts';
import { openProjectState, openServerState } from '../../../local/state/state.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { account, conversation, store } from '../../local/check/stored.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';

keepFoldersInMemory();

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
      expect.stringMatching(/^The backup has a date in the future: [^\n]+clock[^\n]+\n$/),
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

test('a damaged database is named by a check and by a backup, and comes back from an earlier backup', async () => {
  const { env, serverDir } = await newMachine();
  const id = 'conv_11111111-1111-4111-8111-111111110000';
  const storage = join(serverDir, 'storage');
  const [file = ''] = await store(storage, [
    conversation(id, 'ana'),
    account('ana', [id]),
    conversation(id.replace('1', '2'), 'ana'),
  ]);
  const whole = readFileSync(file);
  const folder = temporaryFolder();
  const state = ['--state', serverDir];
  const run = (...args: string[]) => callDrawbridge(args, { env });
  expect(await run('check', ...state)).toEqual({
    code: 0,
    stdout: '',
    stderr: '5 databases: none is damaged.\n',
  });
  expect(await run('backup', join(folder, 'whole.tar'), ...state)).toMatchObject({
    code: 0,
    stderr: '',
  });
  for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  writeFileSync(file, 'no database');
  const path = file.slice(serverDir.length + 1);
  const named = `Damaged: conversation ${id} of account ana (${path}): `;
  const checked = await run('check', ...state);
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining(named)]);
  const backed = await run('backup', join(folder, 'damaged.tar'), ...state);
  expect([backed.code, backed.stderr]).toEqual([0, expect.stringContaining(named)]);
  expect(readFileSync(file, 'utf8')).toBe('no database');

  const only = ['--only', path];
  const restored = await run('restore', join(folder, 'whole.tar'), ...state, ...only);
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  expect(readFileSync(file)).toEqual(whole);
  expect((await run('check', ...state)).code).toBe(0);
  // Only what was restored has lost a future.
  const written = JSON.parse(readFileSync(join(serverDir, 'state.json'), 'utf8'));
  expect(Object.keys(written).toSorted()).toEqual(['format', 'restoredFiles', 'writtenBy']);
  expect(Object.keys(written.restoredFiles)).toEqual([basename(path, '.sqlite')]);
  for (const wrong of ['storage/../auth-secret', 'auth-secret', '/etc/passwd', `${path}x`]) {
    const refused = await run('restore', join(folder, 'whole.tar'), ...state, '--only', wrong);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
  }
});

test('links that lead out of the state are named by a backup and a check', async () => {
  const { env, serverDir } = await newMachine();
  const elsewhere = temporaryFolder();
  const [file = ''] = await store(join(elsewhere, 'storage'), [account('ana', [])]);
  const before = readFileSync(file);
  rmSync(join(serverDir, 'storage'), { recursive: true });
  symlinkSync(join(elsewhere, 'storage'), join(serverDir, 'storage'));
  symlinkSync('policy.json', join(serverDir, 'other.json'));
  const [folder, state] = [temporaryFolder(), ['--state', serverDir]];
  const named = `Links that lead out of the state (1): storage to ${elsewhere}/storage. `;
  for (const args of [['backup', join(folder, 'one.tar')], ['check']]) {
    const { code, stderr } = await callDrawbridge([...args, ...state], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining(named)]);
  }
  // A check opens only copies.
  expect(readFileSync(file)).toEqual(before);
  expect(readdirSync(dirname(file)).some((name) => name.startsWith('kept'))).toBe(false);
});

test('an account whose database is damaged is removed with all that it has', async () => {
  const { env, serverDir } = await newMachine();
  const [first, second] = ['1', '2'].map((n) => `conv_${n}1111111-1111-4111-8111-111111110000`);
  const made = await store(join(serverDir, 'storage'), [
    account('ana', [first ?? '']),
    conversation(first ?? '', 'ana'),
    conversation(second ?? '', 'eva'),
    account('eva', [second ?? '']),
  ]);
  for (const end of ['-wal', '-shm']) rmSync(`${made[0]}${end}`, { force: true });
  writeFileSync(made[0] ?? '', 'no database');
  const run = (...args: string[]) =>
    callDrawbridge(['check', '--state', serverDir, ...args], { env });
  const checked = await run();
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('account ana (')]);
  const there = () => made.map((file) => existsSync(file));
  expect((await run('--erase', 'ana')).code).not.toBe(0);
  expect((await run('--erase', 'nobody', '--yes')).code).toBe(2);
  expect(there()).toEqual([true, true, true, true]);
  expect(await run('--erase', 'ana', '--yes')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('ana: 1 conversations and 0 bridges'),
  });
  expect(there()).toEqual([false, false, true, true]);
  expect((await run()).code).toBe(0);
});

test.each([
  ['storage', '/var/tmp', false],
  ['storage', '../elsewhere', false],
  ['storage', 'backups/../../x', false],
  ['one', '..', false],
  ['projects/a/two', '../../..', false],
  ['projects/a/two', '../b/../../x', false],
  ['auth-secret', '../../secret', false],
  ['projects/a/two', '../../devices.json', true],
  ['projects/a/two', 'policy.json', true],
  ['projects/two', '..', true],
  ['projects/two', '../..', false],
  ['projects/two', '../.', true],
  ['projects/a/quarantine/x', '/etc/passwd', true],
])('a backup with a link at %s to %s is restored: %4$s', async (path, target, isRestored) => {
  const { env } = await newMachine();
  const folder = temporaryFolder();
  const dir = join(folder, 'state');
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  symlinkSync(target, join(dir, path));
  const file = join(folder, 'backup.tar');
  await writeArchive(file, dir, { archive: 1, format: 0, writtenBy: '0.0.1', createdMs: 0 });
  const { code, stderr } = await callDrawbridge(
    ['restore', file, '--state', join(folder, 'restored')],
    { env },
  );
  expect(code).toBe(isRestored ? 0 : 2);
  if (!isRestored) expect(stderr).toContain(`leads out of the state folder: ${path} to ${target}`);
  expect(existsSync(join(folder, 'restored'))).toBe(isRestored);
});
