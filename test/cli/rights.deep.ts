import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OWN_PROGRAMS } from '../../cli/main.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { DRAWBRIDGE } from './bundle.ts';
import { type Finished, runDrawbridge } from './drawbridge.ts';

/** A user who owns nothing but what a test gives, and whom the system does not know. */
const STRANGER = 54_321;
const AS_STRANGER = [`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups'];
/** No stack, and nothing else beside it. */
const ONE_LINE = /^drawbridge: (?!.*( at |Error:))[^\n]+\n$/;
const ROOT = join(import.meta.dirname, '..', '..');
/** Only root can be several users. */
const needsRoot = { skip: process.getuid?.() !== 0 };

describe('a user without rights', needsRoot, () => {
  const COMMANDS = [['start'], ['up', '--json'], ['token'], ['chat', 'Hi'], ['status'], ['stop']];

  test.each(COMMANDS)('is refused by a state that another user has closed: %s', async (...args) => {
    const { run, foreign } = newStranger();
    const closed = join(foreign, 'drawbridge');
    mkdirSync(closed, { mode: 0o700 });
    const { code, stderr } = await run(args, { XDG_STATE_HOME: foreign });
    expect([code, stderr]).toEqual([2, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toMatch(`${closed}/`);
    expect(stderr).toMatch(/you may not enter it.*change its owner.* --state or XDG_STATE_HOME/);
  });

  test.each([['start'], ['up', '--json'], ['token']])(
    'is refused where no state may be made: %s',
    async (...args) => {
      const { run, foreign } = newStranger();
      const { code, stderr } = await run(args, { XDG_STATE_HOME: foreign });
      expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
      expect(stderr).toMatch(/you may not use it; .* --state or XDG_STATE_HOME/);
      expect(readdirSync(foreign)).toEqual([]);
    },
  );

  test.each([
    [['config', 'set', 'model', 'demo'], /nothing was changed\. .*XDG_CONFIG_HOME/],
    [['config', 'edit'], /nothing was changed\. .*XDG_CONFIG_HOME/],
    [['service', 'install'], /drawbridge\.service cannot be written \(EACCES\): make its folder/],
  ])('is refused where no configuration may be written: %j', async (args, words) => {
    const { run, foreign } = newStranger();
    const { code, stderr } = await run(args, { XDG_CONFIG_HOME: foreign, EDITOR: 'true' });
    const said = stderr.replace(/^No model is set[^\n]+\n/, '');
    expect([code, said]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(said).toMatch(words);
  });

  test('keeps the server that runs where no service can be installed', async () => {
    const { run, foreign } = newStranger();
    expect((await run(['start', '--port', '0'])).code).toBe(0);
    expect((await run(['service', 'install'], { XDG_CONFIG_HOME: foreign })).code).toBe(1);
    expect((await run(['status'])).code).toBe(0);
    expect((await run(['stop'])).code).toBe(0);
  });

  test('gets no backup, and no restore, where the folder is closed', async () => {
    const { run, foreign, home } = newStranger();
    const file = join(home, 'backup.tar');
    await run(['token']);
    const denied = await run(['backup', join(foreign, 'backup.tar')]);
    expect([denied.code, denied.stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(denied.stderr).toMatch(/backup\.tar cannot be written \(EACCES\): .*another file/);
    expect((await run(['backup', file])).code).toBe(0);
    const restored = await run(['restore', file, '--state', join(foreign, 'new')]);
    expect([restored.code, restored.stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(restored.stderr).toMatch(/new cannot be written \(EACCES\): .*another folder/);
    expect(readdirSync(foreign)).toEqual([]);
  });
});

describe('root by sudo', needsRoot, () => {
  test.each([['start'], ['token']])(
    'leaves no file in the state of a user: %s',
    async (...args) => {
      const { home, env, run } = newStranger();
      const asRoot = { env: { ...env, SUDO_UID: `${STRANGER}` }, cwd: temporaryFolder() };
      for (const isThere of [false, true]) {
        const { code, stderr } = await runDrawbridge(args, asRoot);
        expect([code, stderr]).toEqual([2, expect.stringMatching(ONE_LINE)]);
        expect(stderr).toMatch(/run the command without sudo/);
        const owners = execFileSync('find', [home, '-user', 'root'], { encoding: 'utf8' });
        expect(owners).toBe('');
        if (!isThere) await run(['token']);
      }
    },
  );

  test('uses a state of its own', async () => {
    const env = { XDG_STATE_HOME: temporaryFolder(), SUDO_UID: `${STRANGER}` };
    expect((await runDrawbridge(['token'], { env, cwd: temporaryFolder() })).code).toBe(0);
  });
});

describe('dependencies that are missing', needsRoot, () => {
  test('are not installed by a user who may not write to the clone', () => {
    const clone = newClone();
    const { status, stderr } = install(clone, ['setpriv', ...AS_STRANGER]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toContain(`you may not write to ${clone} (EACCES): run the command once as`);
  });

  test('are not installed into a folder that root has made', () => {
    const clone = newClone();
    mkdirSync(join(clone, 'node_modules'));
    chownSync(clone, STRANGER, STRANGER);
    const { status, stderr } = install(clone, ['setpriv', ...AS_STRANGER]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toContain(`you may not write to ${join(clone, 'node_modules')} (EACCES)`);
  });

  test('are not installed on a read-only disk', ({ skip }) => {
    const clone = newClone();
    const mounted = spawnSync('mount', ['--bind', clone, clone]);
    if (mounted.status !== 0) skip('Mounts are not allowed here.');
    onTestFinished(() => void execFileSync('umount', ['-l', clone]));
    execFileSync('mount', ['-o', 'remount,bind,ro', clone]);
    const { status, stderr } = install(clone);
    expect([status, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toContain(`${clone} (EROFS)`);
  });

  test('need npm', () => {
    const { status, stderr } = install(newClone(), [], { PATH: '/nowhere' });
    expect([status, stderr.split('\n').at(-2)]).toEqual([
      1,
      'drawbridge: npm cannot be run (ENOENT): install it, or put it on the PATH.',
    ]);
  });

  test('a clone of another user that has them all runs', async () => {
    const { run } = newStranger([process.execPath, OWN_PROGRAMS.drawbridge[1] ?? '']);
    const { code, stderr } = await run(['token']);
    expect([code, stderr]).toEqual([0, '']);
  });
});

/** The stranger with a home and a project, and a folder of root that everybody may read. */
function newStranger(program = [process.execPath, DRAWBRIDGE]) {
  const [home, cwd, foreign] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  for (const own of [home, cwd]) chownSync(own, STRANGER, STRANGER);
  chmodSync(foreign, 0o755);
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: '' };
  const run = async (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Finished> =>
    await runDrawbridge([...args], {
      cwd,
      env: { ...env, ...more },
      program: ['setpriv', ...AS_STRANGER, ...program],
    });
  return { home, foreign, env, run };
}

/** The part of a clone that installs its dependencies. */
function newClone(): string {
  const clone = temporaryFolder();
  mkdirSync(join(clone, 'local'));
  cpSync(join(ROOT, 'local/ensure-installed.mjs'), join(clone, 'local/ensure-installed.mjs'));
  writeFileSync(join(clone, 'package.json'), '{"name": "clone", "version": "1.0.0"}');
  writeFileSync(join(clone, 'package-lock.json'), '{"lockfileVersion": 3, "packages": {}}');
  chmodSync(clone, 0o755);
  return clone;
}

function install(clone: string, before: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const script = join(clone, 'local/ensure-installed.mjs');
  const [program = '', ...args] = [...before, process.execPath, script];
  const options = { env: { ...process.env, ...env }, encoding: 'utf8', cwd: '/' } as const;
  const { status, stderr } = spawnSync(program, args, options);
  expect(existsSync(join(clone, 'node_modules/.package-lock.json'))).toBe(false);
  expect(readFileSync(join(clone, 'package.json'), 'utf8')).toContain('clone');
  return { status, stderr };
}
