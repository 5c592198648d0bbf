import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchdPlist, systemdUnit } from '../../../cli/service/unit.ts';
import { projectName, STATE_MARK } from '../../../local/state/folder.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { runDrawbridge, startDrawbridge } from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

const ODD = `/a folder/100% "q" \\ $HOME/drawbridge`;

interface Machine {
  readonly env: NodeJS.ProcessEnv;
  readonly unitPath: string;
  /** The commands that systemctl got, one a line. */
  commands(): string[];
}

/** A home of its own, and a systemd that carries out what `says` answers with 0. */
function newMachine(systemctl: string): Machine {
  const home = temporaryFolder();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const log = join(home, 'commands');
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$*" >> ${log}\n${systemctl}\n`);
  chmodSync(join(bin, 'systemctl'), 0o755);
  const config = join(home, 'config');
  mkdirSync(join(config, 'drawbridge'), { recursive: true });
  writeFileSync(
    join(config, 'drawbridge', 'config.json'),
    '{"model": "demo", "server": {"port": 0}}',
  );
  chmodSync(join(config, 'drawbridge', 'config.json'), 0o600);
  return {
    env: {
      HOME: home,
      XDG_CONFIG_HOME: config,
      XDG_STATE_HOME: join(home, 'state'),
      PATH: `${bin}:${process.env['PATH']}`,
    },
    unitPath: join(config, 'systemd', 'user', 'drawbridge.service'),
    commands: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  };
}

describe.runIf(process.platform === 'linux')('the service of systemd', () => {
  it('is written, started, shown and removed', async () => {
    const { env, unitPath, commands } = newMachine('exit 0');
    const before = await callDrawbridge(['service', 'status'], { env });
    expect([before.code, before.stderr]).toEqual([
      1,
      expect.stringContaining('There is no service'),
    ]);
    const installed = await callDrawbridge(['service', 'install'], { env });
    expect(installed.stderr).toContain('as a service of systemd');
    expect(installed.code).toBe(0);
    expect(commands()).toEqual(
      ['daemon-reload', 'enable drawbridge.service', 'restart drawbridge.service'].map(
        (line) => `--user ${line}`,
      ),
    );
    const { code } = await callDrawbridge(['service', 'status'], { env });
    expect(code).toBe(0);
    expect((await callDrawbridge(['service', 'uninstall'], { env })).code).toBe(0);
    expect(commands().at(-1)).toBe('--user disable --now drawbridge.service');
    expect(existsSync(unitPath)).toBe(false);
  });

  it('runs the server by the command of the unit, and ends it by SIGTERM', async () => {
    const { env, unitPath } = newMachine('echo "Failed to connect to bus" >&2; exit 1');
    const { code, stderr } = await callDrawbridge(['service', 'install'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('Failed to connect to bus')]);
    expect(stderr).toContain(`${unitPath} is written`);
    const line = /^ExecStart=(.*)$/m.exec(readFileSync(unitPath, 'utf8'))?.[1] ?? '';
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word);
    const variables = [...readFileSync(unitPath, 'utf8').matchAll(/^Environment="(\w+)=(.*)"$/gm)];
    const own = Object.fromEntries(variables.map(([, name, value]) => [name, value]));
    const [program = '', ...args] = words;
    const server = spawn(program, args, { env: { HOME: env['HOME'], ...own }, stdio: 'ignore' });
    const ended = once(server, 'exit');
    await expect
      .poll(async () => (await callDrawbridge(['status', '--json'], { env })).stdout, {
        timeout: 30_000,
      })
      .toContain(`"pid":${server.pid}`);
    const removed = await callDrawbridge(['service', 'uninstall'], { env });
    expect([removed.code, removed.stderr]).toEqual([
      0,
      expect.stringContaining('Failed to connect'),
    ]);
    expect(await ended).toEqual([0, null]);
    expect(existsSync(unitPath)).toBe(false);
  });

  it('is not installed where systemd does not answer, and the server goes on', async () => {
    const { env } = newMachine('echo "Failed to connect to bus" >&2; exit 1');
    const cwd = temporaryFolder();
    await runDrawbridge(['start', '--port', '0'], { env, cwd });
    const pid = async () =>
      JSON.parse((await callDrawbridge(['status', '--json'], { env })).stdout).pid;
    try {
      const before = await pid();
      const { code, stderr } = await callDrawbridge(['service', 'install'], { env });
      expect([code, stderr]).toEqual([1, expect.stringContaining('Failed to connect to bus')]);
      expect(stderr).not.toContain('Stopped');
      expect(await pid()).toBe(before);
      const healthy = newMachine('exit 0');
      const path = `${healthy.env['PATH']}:${env['PATH']}`;
      const installed = await callDrawbridge(['service', 'install'], {
        env: { ...env, PATH: path },
      });
      expect(installed.stderr).toContain('Stopped the background server');
    } finally {
      await runDrawbridge(['stop'], { env });
    }
  });

  it('is refused where config.json names a key of this terminal', async () => {
    const { env, unitPath } = newMachine('exit 0');
    const config = { baseUrl: 'http://127.0.0.1:9/v1', model: 'm', key: { env: 'MY_KEY' } };
    writeFileSync(
      join(String(env['XDG_CONFIG_HOME']), 'drawbridge', 'config.json'),
      JSON.stringify(config),
    );
    const withKey = { ...env, MY_KEY: 'sk-1' };
    const { code, stderr } = await callDrawbridge(['service', 'install'], { env: withKey });
    expect([code, stderr]).toEqual([2, expect.stringContaining('MY_KEY')]);
    expect(existsSync(unitPath)).toBe(false);
  });

  it.runIf(existsSync('/usr/bin/systemd-analyze'))('is a unit that systemd reads', () => {
    const dir = temporaryFolder();
    const path = join(dir, 'drawbridge.service');
    const command = ['/bin/true', ODD];
    writeFileSync(path, systemdUnit({ command, environment: { A: ODD } }));
    const verify = ['verify', '--user', path];
    const env = { ...process.env, XDG_RUNTIME_DIR: dir, HOME: dir };
    expect(() =>
      execFileSync('/usr/bin/systemd-analyze', verify, { env, stdio: 'pipe' }),
    ).not.toThrow();
  });
});

it('the property list of launchd keeps every character', () => {
  const text = launchdPlist({ command: ['/a & b/<c>'], environment: { A: 'x&y' } });
  expect(text).toContain('<string>/a &amp; b/&lt;c&gt;</string>');
  expect(text).toContain('<key>A</key><string>x&amp;y</string>');
});

describe('uninstall', () => {
  it('names the folders of Drawbridge alone, also where the state is a link to another disk', async () => {
    const { env } = newMachine('exit 0');
    const disk = temporaryFolder();
    mkdirSync(join(disk, 'server'));
    const state = join(String(env['XDG_STATE_HOME']), 'drawbridge');
    mkdirSync(state, { recursive: true });
    symlinkSync(join(disk, 'server'), join(state, 'server'));
    const { stderr } = await callDrawbridge(['uninstall'], { env });
    expect(stderr).toContain(`Left: ${join(disk, 'server')} (conversations, keys, logs)`);
    expect(stderr).toContain(`Left: ${state} (conversations, keys, logs)`);
    expect(stderr).not.toContain(`Left: ${disk} `);
  });

  it.runIf(HAS_TERMINALS)('ends the server of a folder with a state of its own, too', async () => {
    const { env } = newMachine('exit 0');
    const folder = temporaryFolder();
    const home = join(String(env['XDG_STATE_HOME']), 'drawbridge');
    const state = join(home, projectName(folder));
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(join(state, STATE_MARK), randomBytes(32).toString('base64url'));
    const up = startDrawbridge(['up', '--json', '--port', '0'], { env, cwd: folder });
    await up.firstLine;
    const command = [process.execPath, DRAWBRIDGE, 'uninstall', '--purge'];
    const terminal = openPseudoTerminal(command, { env });
    await terminal.shows('with all conversations and keys?');
    terminal.type('y\r');
    expect((await terminal.finished).code).toBe(0);
    expect(terminal.screen()).toContain('Stopped the server: ');
    expect((await up.finished).code).toBe(0);
    expect(existsSync(home)).toBe(false);
  });

  it('says what it leaves, and asks before it deletes', async () => {
    const { env } = newMachine('exit 0');
    const { code, stderr } = await callDrawbridge(['uninstall'], { env });
    expect(code).toBe(0);
    expect(stderr).toContain(
      `Left: ${join(String(env['XDG_CONFIG_HOME']), 'drawbridge')} (settings)`,
    );
    const purged = await callDrawbridge(['uninstall', '--purge'], { env });
    expect([purged.code, purged.stderr]).toEqual([
      2,
      expect.stringContaining('no terminal to ask'),
    ]);
    expect(existsSync(join(String(env['XDG_CONFIG_HOME']), 'drawbridge'))).toBe(true);
  });
});
