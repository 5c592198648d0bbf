import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../../package.json' with { type: 'json' };
import type { CommandRequest } from '../../launch/confinement.ts';
import { findRuntime, READ_SCRIPT, RUNTIME_VERSION, runtimeIn } from '../../launch/runtime.ts';
import { runtimeConfinement } from '../../launch/runtime-confinement.ts';
import { seatbelt } from '../../launch/seatbelt.ts';
import { macProbes } from '../../proof/mac-probes.ts';
import { SHELL } from '../../terminal/launch.ts';
import { plainLaunch, run } from '../terminal/plain-launch.ts';
import { type Decide, decisionsOf } from './profile-rules.ts';
import { RUNTIME_FOLDER } from './runtime-on-linux.ts';

let base: string;
const at = (name: string) => join(base, name);
const put = async (name: string, text = '') => {
  await mkdir(join(at(name), '..'), { recursive: true });
  await writeFile(at(name), text);
};

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-seatbelt-')));
  // The name would be a pattern.
  const files = ['.env', '.cursorignore', 'plan', 'far/sub/.git/HEAD', 'bare/HEAD', 'bare/config'];
  for (const name of files) await put(`home/[work]/${name}`, 'plan\n');
  for (const name of ['objects', 'refs']) await mkdir(at(`home/[work]/bare/${name}`));
  await mkdir(at('home/.cargo/bin'), { recursive: true });
  await mkdir(at('home/state/worktrees/one'), { recursive: true });
  await symlink('/usr/lib', at('home/[work]/far/.env'));
  for (const name of ['a"À', 'a\u0001b']) {
    await put(`home/odd/${name}/.cursorignore`, 'lost\n');
    await put(`home/odd/${name}/lost`);
  }
  // Makes the runtime take this machine for a Mac.
  await put(
    'package/dist/index.js',
    "Object.defineProperty(process, 'platform', { value: 'darwin' });\n" +
      `export * from ${JSON.stringify(join(RUNTIME_FOLDER, 'dist/index.js'))};\n`,
  );
  await put('package/package.json', '{"type": "module"}');
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function start(
  request: Partial<CommandRequest> = {},
  workspace = at('home/[work]'),
): Promise<{
  readonly program: string | undefined;
  readonly args: readonly string[];
  readonly tmp: string;
  readonly limits: string;
}> {
  const home = at('home');
  const runtime = runtimeIn(at('package'), home);
  const account = { uid: process.getuid?.() ?? 0, gid: 0, name: 'ada', home, prefix: [] };
  const environment = { PATH: '/usr/bin', HOME: home, TOKEN: 'secret' };
  const made = await runtimeConfinement(
    { runtime, platform: seatbelt, account },
    {
      workspace,
      home,
      closedFolders: [at('home/state'), at('other-state')],
      maskFolder: at('masks'),
      environment,
    },
  );
  if (!made.ok) throw new Error(made.reason);
  using confinement = made.confinement;
  const asked = { command: 'echo "$TOKEN"', cwd: workspace, permissions: [], ...request };
  return await confinement.start(asked, async ({ launch, limits }) => {
    const { file: program, args, env } = launch;
    return { program, args, tmp: env['TMPDIR'] ?? '', limits };
  });
}

type Decided = Decide & { readonly profile: string; readonly tmp: string };

async function decided(request: Partial<CommandRequest>, workspace?: string): Promise<Decided> {
  return decisionsIn(await start(request, workspace));
}

function decisionsIn({ args, tmp }: Awaited<ReturnType<typeof start>>): Decided {
  return Object.assign(decisionsOf(args[1] ?? ''), { profile: args[1] ?? '', tmp });
}

/** A command that asks for nothing: starting one takes half a second of processor time. */
let plain: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  plain = await start();
});

test('a command is started by the system’s program, with a profile and nothing else', () => {
  const { program, args } = plain;
  expect([program, ...args]).toEqual([
    '/usr/bin/sandbox-exec',
    '-p',
    expect.stringMatching(/^\(version 1\)\n\(deny default /),
    SHELL,
    '-c',
    READ_SCRIPT,
  ]);
});

describe('the profile of a command', () => {
  let decide: Decided;
  beforeAll(() => {
    decide = decisionsIn(plain);
  });
  const work = (name: string) => at(`home/[work]/${name}`);

  test('opens the workspace, the system, the tools and a folder for temporary files', () => {
    const readable = [work('readme'), '/usr/lib/x', at('home/.cargo/bin/x'), `${decide.tmp}/x`];
    const examples = [work('.env.example'), work('a/.env.local.example')];
    const writable = [work('.github/workflows/a.yml'), work('lib/cert.pem'), `${decide.tmp}/x`];
    expect([
      ...[...readable, ...examples, work('a/.git/HEAD')].map((path) =>
        decide('file-read-data', path),
      ),
      ...writable.map((path) => decide('file-write-data', path)),
      decide('file-write-unlink', work('readme')),
    ]).toEqual(Array.from({ length: 11 }, () => 'allow'));
  });

  /** `~` is the home folder, `.` the workspace. */
  const placeOf = (name: string) =>
    name.replace('~/..', base).replace(/^~/, at('home')).replace(/^\.\//, work(''));

  test.each([
    ...['~/.ssh/id_ed25519', '~/notes', '~/state/devices.json', '~/../other-state/devices.json'],
    '/Users/other/file',
    ...['~/Library/Keychains/login.keychain-db', '/Library/Keychains/System.keychain'],
    ...['/Volumes/disk/file', '/private/tmp/file', '/private/var/folders/a/b/T/file'],
    ...['./.env', './a/b/.ENV.local', './a/server.Pem', './a/.ssh/config', './plan'],
  ])('reads nothing from %s', (name) => {
    expect(decide('file-read-data', placeOf(name))).toBe('deny');
  });

  test.each([
    ...['~/file', '/srv/outside', '/private/tmp/claude/file', '/usr/local/bin/git'],
    ...['./.git/HEAD', './new/.GIT/hooks/pre-commit', './a/.vscode/tasks.json', './lefthook.yml'],
    ...['./.github/hooks/a.json', './bare/config', './.env', './plan'],
  ])('writes nothing to %s', (name) => {
    expect(decide('file-write-data', placeOf(name))).toBe('deny');
    expect(decide('file-write-create', placeOf(name))).toBe('deny');
  });

  test('reads nothing of other work beside the workspace, wherever that lies', async () => {
    await put('srv/one/file');
    const there = await decided({}, at('srv/one'));
    const paths = [at('srv/two/file'), at('srv/one/file'), '/opt/tool'];
    expect(paths.map((path) => there('file-read-data', path))).toEqual(['deny', 'allow', 'allow']);
  });

  test('keeps closed places, and what is around them, under their names', () => {
    const kept = ['.git', '.env', 'a/.env', 'plan', 'far/sub/.git', 'far/sub', 'far', 'bare'];
    expect(kept.map((name) => decide('file-write-unlink', work(name)))).toEqual(
      kept.map(() => 'deny'),
    );
  });

  test('has no network, no socket and no keychain', () => {
    expect(decide.profile).not.toContain('(allow network');
    expect([
      decide('network-outbound'),
      decide('network-bind'),
      decide('network-outbound', '/var/run/docker.sock', 'unix-socket'),
      decide('mach-lookup', 'com.apple.SecurityServer'),
      decide('mach-lookup', 'com.apple.securityd.xpc'),
      decide('appleevent-send'),
    ]).toEqual(Array.from({ length: 6 }, () => 'deny'));
  });

  test('has a rule for every path, or there is none', async () => {
    const quoted = await decided({}, at('home/odd/a"À'));
    expect(quoted('file-read-data', at('home/odd/a"À/lost'))).toBe('deny');
    await expect(decided({}, at('home/odd'))).rejects.toThrow(
      'that no rule of the sandbox can name',
    );
  });

  test('closes nothing by a link', () => {
    expect(decide('file-read-data', '/usr/lib/x')).toBe('allow');
  });

  test('opens with a permission its part alone', async () => {
    const git = await decided({ permissions: ['git_write'] });
    const network = await decided({ permissions: ['network'] });
    const reading = await decided({ isReadOnly: true });
    const docker = ['network-outbound', '/var/run/docker.sock', 'unix-socket'] as const;
    const names = ['network-outbound', '/private/var/run/mDNSResponder', 'unix-socket'] as const;
    expect([
      git('file-write-data', work('.git/HEAD')),
      git('file-write-data', work('.git/hooks/pre-commit')),
      git('file-write-data', work('.git/modules/a/config')),
      git('file-write-data', work('.vscode/tasks.json')),
      git('network-outbound'),
      network('network-outbound'),
      network(...docker),
      network(...names),
      network('file-read-data', work('.env')),
      reading('file-write-data', work('readme')),
      reading('file-read-data', work('readme')),
    ]).toEqual([
      ...['allow', 'deny', 'deny', 'deny', 'deny'],
      ...['allow', 'deny', 'allow', 'deny', 'deny', 'allow'],
    ]);
  });

  test('with all permissions closes our own state alone', async () => {
    const inner = at('home/state/worktrees/one');
    const all = await decided({ permissions: ['all'] }, inner);
    expect([
      all('file-read-data', at('home/state/devices.json')),
      all('file-write-unlink', at('home/state')),
      all('file-write-unlink', at('home')),
      all('file-read-data', join(inner, 'file')),
      all('file-write-data', join(inner, 'file')),
      all('file-read-data', at('home/.ssh/id_ed25519')),
      all('network-outbound'),
    ]).toEqual(['deny', 'deny', 'deny', 'allow', 'allow', 'allow', 'allow']);
  });
});

describe('a line of the runtime', () => {
  const profile = '(version 1)\n(deny default (with message "it\'s"))';
  const quote = (word: string) => `'${word.replaceAll("'", `'"'"'`)}'`;
  const line = (words: readonly string[]) => words.map(quote).join(' ');
  const program = ['/usr/bin/sandbox-exec', '-p', profile, SHELL, '-c', READ_SCRIPT];

  test('is taken apart as a shell would', () => {
    const [, , text] = seatbelt.argvOf(line(['env', 'A=b', ...program]), 'closed');
    expect(text?.startsWith(profile)).toBe(true);
  });

  test.each([
    ['without a sandbox', [SHELL, '-c', READ_SCRIPT]],
    ['with another program', ['env', ...program.with(0, '/tmp/sandbox-exec')]],
    ['with a program before', ['env', 'nice', ...program]],
    ['with another script', ['env', ...program.with(5, 'id')]],
    ['with a word behind', ['env', ...program, 'x']],
    ['with another profile', ['env', ...program.with(2, '(version 1)\n(allow default)')]],
    ['with a network', ['env', ...program.with(2, `${profile}\n(allow network*)`)]],
  ])('%s is refused', (_, words) => {
    expect(() => seatbelt.argvOf(line(words), 'closed')).toThrow('of another form');
  });
});

describe('the package', () => {
  const put83 = (version: string) =>
    put('global/@anthropic-ai/sandbox-runtime/package.json', JSON.stringify({ version }));
  const find = (workspace: string, folders = [at('global')]) =>
    findRuntime({ workspace, home: '/' }, folders);

  test('is found in the version that is known', async () => {
    await put83(RUNTIME_VERSION);
    expect(await find('/work')).toMatchObject({ ok: true, runtime: { version: RUNTIME_VERSION } });
    const { devDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    const name = '@anthropic-ai/sandbox-runtime';
    expect([devDependencies[name], peerDependencies[name]]).toEqual([
      RUNTIME_VERSION,
      RUNTIME_VERSION,
    ]);
    expect(peerDependenciesMeta[name]).toEqual({ optional: true });
  });

  test.each([
    ['in another version', '0.1.0', () => '/work', 'does not know version 0.1.0'],
    ['in the workspace', RUNTIME_VERSION, () => base, 'lies in the workspace'],
  ])('is refused %s, with what to do', async (_, version, workspace, reason) => {
    await put83(version);
    expect(await find(workspace())).toEqual({
      ok: false,
      reason: expect.stringMatching(
        new RegExp(`${reason}.*npm install -g @anthropic-ai/sandbox-runtime@0.0.83`),
      ),
    });
  });

  test('that is missing is named', async () => {
    expect(await find('/work', [])).toMatchObject({
      ok: false,
      reason: expect.stringContaining('is not installed'),
    });
  });
});

test('the probes for macOS notice a command without a sandbox', async () => {
  const folder = at('probed');
  await put('probed/.env', 'secret\n');
  await put('probed-home/Library/Keychains/login.keychain-db', 'keys\n');
  const home = at('probed-home');
  const traps = { folder, home, closedFolders: [home], secrets: [at('probed/.env')] };
  const probes = macProbes({ ...traps, port: 1, socket: at('none') });
  const { output } = await run(plainLaunch(probes.script));
  const keychains = at('probed-home/Library/Keychains');
  expect(output.trim().split('\n')).toEqual([
    ...['revealed .env', 'revealed .Env.local', 'revealed .env', 'revealed .env'],
    ...[`revealed ${keychains}`, `revealed ${keychains}/login.keychain-db`],
  ]);
  const made = await Promise.all(probes.outside.map((path) => realpath(path)));
  expect(made).toEqual(probes.outside);
  const [network, all] = await Promise.all(
    probes.allowed.map(({ script }) => run(plainLaunch(script))),
  );
  await put('probed/.env', 'secret\n');
  expect([network?.end, all?.end]).toMatchObject([{ state: 'exited' }, { state: 'exited' }]);
});
