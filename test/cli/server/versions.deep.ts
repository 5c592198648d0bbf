import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FORMAT_STEPS } from '../../../local/state/format.ts';
import { isAlive } from '../../local/processes.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { newBackground } from './background.ts';

const START = ['start', '--port', '0'];
const ONE_LINE = /^drawbridge: (?!.*( at |Error:))[^\n]+\n$/;
const [PRESENT, OLDER, NEWER] = [0, -1, 1].map((by) => FORMAT_STEPS.length + by);

describe('a server of another version', () => {
  test('is replaced while no answer runs', async () => {
    const { run, pid, serverDir, status } = newBackground();
    const old = await startServer(serverDir, '0.0.1', PRESENT);
    const folder = temporaryFolder();
    expect(await run(folder, START)).toMatchObject({ code: 0 });
    expect(pid()).not.toBe(old.pid);
    expect((await status()).projects).toMatchObject([{ workspaceDir: folder }]);
  });

  test('goes on while an answer runs, and says how to stop it', async () => {
    const { run, serverDir } = newBackground();
    const old = await startServer(serverDir, '0.0.1', PRESENT, 'busy');
    const finished = await run(temporaryFolder(), START);
    expect(finished.stderr).toMatch(/The server has version 0\.0\.1, [^\n]+stop` stops it/);
    expect(isAlive(old.pid ?? 0)).toBe(true);
  });
});

describe('a server on a state of an older format', () => {
  test('is replaced while no answer runs, with a backup of the state', async () => {
    const { run, pid, serverDir, status } = newBackground();
    const old = await startServer(serverDir, '0.0.1', OLDER);
    const folder = temporaryFolder();
    expect(await run(folder, START)).toMatchObject({ code: 0 });
    expect(pid()).not.toBe(old.pid);
    expect((await status()).projects).toMatchObject([{ workspaceDir: folder }]);
    expect(formatIn(serverDir)).toBe(PRESENT);
    expect(readdirSync(join(serverDir, 'backups'))).toHaveLength(1);
  });

  test.each([['start'], ['up'], ['chat', 'Hi'], ['backup', '/tmp/never-made.tar']])(
    'goes on while an answer runs, and `%s` says how to end it',
    async (...args) => {
      const { run, serverDir } = newBackground();
      const old = await startServer(serverDir, '0.0.1', OLDER, 'busy');
      const { code, stdout, stderr } = await run(temporaryFolder(), args);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(ONE_LINE)]);
      expect(stderr).toMatch(/process \d+ of 0\.0\.1 still runs on it: end that one .*stop/);
      expect([isAlive(old.pid ?? 0), formatIn(serverDir)]).toEqual([true, OLDER]);
      expect(existsSync(join(serverDir, 'backups'))).toBe(false);
    },
  );
});

describe('a server on a state of a newer format', () => {
  test.each([['start'], ['up'], ['chat', 'Hi'], ['token'], ['backup', '/tmp/never-made.tar']])(
    'goes on, and `%s` names the version to install',
    async (...args) => {
      const { run, serverDir } = newBackground();
      const newer = await startServer(serverDir, '9.9.9', NEWER);
      const { code, stdout, stderr } = await run(temporaryFolder(), args);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(ONE_LINE)]);
      expect(stderr).toMatch(/written by Drawbridge 9\.9\.9; .*install version 9\.9\.9/);
      expect([isAlive(newer.pid ?? 0), formatIn(serverDir)]).toEqual([true, NEWER]);
    },
  );
});

function formatIn(serverDir: string): number {
  return JSON.parse(readFileSync(join(serverDir, 'state.json'), 'utf8')).format;
}

async function startServer(
  serverDir: string,
  version: string,
  format = 0,
  ...rest: string[]
): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '..', 'fixtures', 'other-server.ts');
  const server = spawn(process.execPath, [script, serverDir, version, `${format}`, ...rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  return server;
}
