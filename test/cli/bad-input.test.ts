import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { DRAWBRIDGE } from './bundle.ts';
import { callDrawbridge } from './called.ts';
import { runDrawbridge } from './drawbridge.ts';

/** No stack, and nothing else beside it. */
const ONE_LINE = /^drawbridge: (?!.*( at |Error:))[^\n]+\n$/;

describe('a configuration that cannot be used ends every command that needs it with its place', () => {
  test.each([
    ['a syntax error', (file: string) => writeFileSync(file, '{\n  "model": "x",\n}\n'), /line 3/],
    ['a folder in its place', (file: string) => mkdirSync(file), /is no file: move it away/],
    [
      'a key that is a folder',
      (file: string) => {
        const key = { file: temporaryFolder() };
        writeFileSync(file, JSON.stringify({ model: 'm', baseUrl: 'http://127.0.0.1:1/v1', key }));
      },
      /key: the file .* is no file: name a file/,
    ],
  ])('%s', async (_, damage, words) => {
    const home = temporaryFolder();
    mkdirSync(join(home, 'drawbridge'));
    damage(join(home, 'drawbridge', 'config.json'));
    const env = { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
    const starts = [
      ['start'],
      ['up', '--json'],
      ['npm-start', 'up', '--json'],
      ['npm-start', '--json'],
    ];
    for (const args of starts) {
      const { code, stderr } = await callDrawbridge(args, { env, cwd: temporaryFolder() });
      expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(ONE_LINE)]);
      expect(stderr).toMatch(words);
    }
  });
});

describe('HOME', () => {
  test.each(['', 'relative'])('counts as unset when it is %j', async (HOME) => {
    const cwd = temporaryFolder();
    const { code, stdout } = await callDrawbridge(['config', 'path'], {
      cwd,
      env: { HOME, XDG_CONFIG_HOME: '' },
    });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\/.*config\.json\n$/)]);
    expect(stdout).not.toContain(cwd);
    const env = { HOME, XDG_STATE_HOME: join(temporaryFolder(), 'state') };
    const token = await callDrawbridge(['token'], { cwd, env });
    expect([token.code, token.stderr]).toEqual([0, '']);
    expect(existsSync(join(cwd, 'relative'))).toBe(false);
  });

  test('that is not there is reported with the path, and what to set', async () => {
    const env = { HOME: '/proc/nowhere', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
    for (const [args, words] of [
      [
        ['config', 'set', 'model', 'demo'],
        /cannot be written .*nothing was changed.*XDG_CONFIG_HOME/,
      ],
      [['token'], /\/proc\/nowhere/],
    ] as const) {
      const { code, stderr } = await callDrawbridge([...args], { env, cwd: temporaryFolder() });
      expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(ONE_LINE)]);
      expect(stderr).toMatch(words);
    }
  });

  test('of a user that the system does not know may be missing', { skip: !isRoot() }, async () => {
    const cwd = temporaryFolder();
    const env = { HOME: undefined, XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: undefined };
    chmodSync(cwd, 0o777);
    const setpriv = ['--reuid=54321', '--regid=54321', '--clear-groups', process.execPath];
    const program: [string, ...string[]] = ['setpriv', ...setpriv, DRAWBRIDGE];
    const { code, stderr } = await runDrawbridge(['token'], { env, cwd, program });
    expect([code, stderr]).toEqual([2, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toMatch(/There is no home folder .*HOME or XDG_STATE_HOME/);
  });

  test('that is read-only is reported with what else can be used', { skip: !isRoot() }, async ({
    skip,
  }) => {
    const HOME = temporaryFolder();
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', HOME]).status !== 0) skip();
    onTestFinished(() => void execFileSync('umount', ['-l', HOME]));
    const env = { HOME, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
    const { code, stderr } = await runDrawbridge(['start'], { env, cwd: temporaryFolder() });
    expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toMatch(/read-only; .*--state or XDG_STATE_HOME/);
  });
});

test('without /dev/tty the command says how to go on without a terminal', {
  skip: process.platform !== 'linux',
}, async () => {
  const program: [string, ...string[]] = ['setsid', '--wait', process.execPath, DRAWBRIDGE];
  const env = { XDG_STATE_HOME: temporaryFolder() };
  const { code, stderr } = await runDrawbridge([], { program, env, cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/no terminal to chat at[^\n]+\n$/)]);
});

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
