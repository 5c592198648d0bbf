import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { valuesInto } from '../../transport/leading-in.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-leading-')));
const path = (name: string) => join(base, name);
for (const name of ['state/project', 'home/bin', 'home/work/deep', 'home/work-2'])
  mkdirSync(path(name), { recursive: true });
const work = path('home/work');
writeFileSync(join(work, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
writeFileSync(path('home/bin/plain'), '#!/bin/sh\n', { mode: 0o755 });
writeFileSync(path('home/bin/wrapped'), `#!${work}/.venv/bin/python\n`, { mode: 0o755 });
symlinkSync(join(work, 'tool'), path('home/bin/linked'));
symlinkSync(join(work, 'deep'), path('home/alias'));
symlinkSync(path('home/alias/back'), path('home/through'));
symlinkSync('/usr', join(work, 'deep/back'));
afterAll(() => rmSync(base, { recursive: true }));

const place = {
  folder: path('state/project'),
  workspace: work,
  environment: { HOME: path('home'), PATH: `${path('home/bin')}:/usr/bin:/bin` },
};

/** What of the server leads into the workspace. */
async function found(config: object): Promise<readonly string[]> {
  return await valuesInto({ command: 'plain', args: [], env: {}, ...config }, place);
}

describe('a value leads into the workspace', () => {
  it.each<[name: string, argument: string]>([
    ['as a path', work],
    ['as a path below it', `${work}/server.js`],
    ['to what is not there yet', `${work}/none/such/file`],
    ['in an option', `--root=${work}`],
    ['in a short option', `-I${work}/lib`],
    ['as an address', `file://${work}/x.js`],
    ['as an address of this machine', `file://localhost${work}/x.js`],
    ['as such an address in an option', `--import=FILE://LocalHost${work}/x.js`],
    ['in a list of addresses', `file:///usr/x.js,file://127.0.0.1${work}/x.js`],
    ['in short options that stand together', `-wI${work}/lib`],
    ['in short options with a number', `-0777I${work}/lib`],
    ['relative, in short options', '-wr../../home/work/x.rb'],
    ['in the home folder, in short options', '-wI~/work/lib'],
    ['as an encoded address', `file://${work.replace('work', '%77ork')}/x.js`],
    ['in a list', `/usr/lib:${work}/lib`],
    ['in a script', `cd ${work} && node server.js`],
    ['in an assignment', `root = "${work}"`],
    ['relative to where the server runs', '../../home/work/x.js'],
    ['relative, in an option', '--import=../../home/work/x.js'],
    ['in the home folder', '~/work/x.js'],
    ['by a variable', '$HOME/work/x.js'],
    ['by a variable in braces', `--root=\${HOME}/work`],
    ['by a variable with a standard', `\${HOME:-x}/work`],
    ['by a standard', `\${NONE:-${path('home')}}/work`],
    ['by an alternative', `\${HOME:+${path('home')}}/work`],
    ['by a quoted variable', 'cd "$HOME"/work'],
    ['in the home folder of a user', `~${userInfo().username}/../..${work}`],
    ['with more slashes', work.replaceAll('/', '//')],
    ['by a detour', `${path('home/bin')}/../work`],
    ['through a link', path('home/alias/x.js')],
    ['through a link that leads out again', path('home/through/bin')],
    ['out of it again', `${work}/../bin/plain`],
    ['from a service', `git+file://${work}`],
    ['of a process', `/proc/${process.pid}/root${work}`],
    ['as the folder of an option', `--directory=${path('home')}`],
  ])('%s', async (_, argument) => {
    expect(await found({ args: ['-y', argument] })).toEqual(['argument 2']);
  });

  it.each<[name: string, argument: string]>([
    ['by a variable without its end', `\${HOME%/}/work`],
    ['by a variable that is not known', '$NONE/work'],
    ['by what a program prints', 'exec "$(dirname ~/x)"/work/x.sh'],
    ['by what a program prints, in the older form', 'exec `echo ~`/work/x.sh'],
    ['in the home folder of a user who is not known', '~no-such-user/work'],
    ['in the folder of the shell', '~+/../../home/work'],
  ])('%s, for all that can be read', async (_, argument) => {
    const unread = 'argument 2 (whose path only a shell can work out)';
    expect(await found({ args: ['-y', argument] })).toEqual([unread]);
  });

  it.each([
    ['cwd', { cwd: work }, ['its cwd']],
    ['a cwd around it', { cwd: path('home') }, ['its cwd']],
    ['a cwd relative to the list', { cwd: '../../home/work' }, ['its cwd']],
    ['the command', { command: join(work, 'tool') }, ['its command']],
    ['the command through a link of PATH', { command: 'linked' }, ['its command']],
    ['the command by its first line', { command: 'wrapped' }, ['its command']],
    ['PYTHONPATH', { env: { PYTHONPATH: `/usr/lib:${work}` } }, ['the variable PYTHONPATH']],
    ['a PYTHONPATH around it', { env: { PYTHONPATH: path('home') } }, ['the variable PYTHONPATH']],
    [
      'NODE_OPTIONS',
      { env: { NODE_OPTIONS: `--import ${work}/a` } },
      ['the variable NODE_OPTIONS'],
    ],
    ['PATH', { env: { PATH: `${work}/bin:/usr/bin` } }, ['the variable PATH']],
    ['the folder of an option', { args: ['--cwd', path('home')] }, ['argument 2']],
  ])('by %s', async (_, config, expected) => {
    expect(await found(config)).toEqual(expected);
  });
});

it.each(['/srv/opt', 'https://example.com/opt', 'https://opt/x', '/opt-2', 'a/opt', '-opt', 'opt'])(
  'a short path of a workspace is not found in %s',
  async (argument) => {
    const config = { command: 'plain', args: [argument], env: {} };
    const short = { ...place, workspace: '/opt', environment: { PATH: path('home/bin') } };
    expect(await valuesInto(config, short)).toEqual([]);
    const inside = { ...config, args: ['-I/opt/x', 'cd /opt;', 'a=/opt'] };
    expect(await valuesInto(inside, short)).toEqual(['argument 1', 'argument 2', 'argument 3']);
  },
);

describe('a list in a folder around the workspace', () => {
  const around = { ...place, folder: path('home') };
  const foundAround = async (config: object) =>
    await valuesInto({ command: 'plain', args: [], env: {}, ...config }, around);

  it('is no way into the workspace by itself', async () => {
    expect(await foundAround({})).toEqual([]);
    expect(await foundAround({ cwd: '.', args: ['-m', 'tickets', 'bin/x.js', '.'] })).toEqual([]);
  });

  it.each<[expected: string, config: object]>([
    ['its cwd', { cwd: 'work' }],
    ['its cwd', { cwd: './bin/..//work/deep' }],
    ['its cwd', { cwd: '..' }],
    ['its command', { command: './work/tool' }],
    ['argument 1', { args: ['work'] }],
    ['argument 1', { args: ['work/server.js'] }],
    ['argument 2', { args: ['-m', 'work.server'] }],
    ['argument 2', { args: ['-e', 'require("./work/x")'] }],
    ['argument 2', { args: ['--prefix', '.'] }],
    ['argument 1', { args: ['-Iwork/lib'] }],
    ['argument 1', { args: ['alias/x.js'] }],
    ['the variable PYTHONPATH', { env: { PYTHONPATH: '.' } }],
    ['the variable X', { env: { X: 'work/x' } }],
  ])('still shows a value that reaches it: %s %o', async (expected, config) => {
    expect(await foundAround(config)).toEqual([expected]);
  });
});

it.each<[name: string, config: object]>([
  ['a name', { args: ['-y', '@modelcontextprotocol/server-memory'] }],
  ['another folder of the same beginning', { args: [path('home/work-2')] }],
  ['a folder around the workspace as data', { args: [path('home')] }],
  ['its own folder', { args: ['.', './data.db', '-m', 'json'] }],
  ['a web address', { args: ['https://example.com/work?x=/a/b'] }],
  [
    'a home folder of its own',
    { env: { HOME: path('home'), NODE_OPTIONS: '--max-old-space-size=64' } },
  ],
  ['short options and numbers', { args: ['-wI/usr/lib', '-la', '--no-x', '-5', '~5', '~5/min'] }],
  ['what a program prints as a value', { args: ['-c', 'TOKEN=$(gh auth token) exec plain "$@"'] }],
  [
    'a path by a variable',
    { args: ['$HOME/bin', '"${HOME:-/}"/bin', '${NONE:-/usr}/lib', '~/bin/x'] },
  ],
  ['a variable of data', { env: { TOKEN: 'a$b/c~d/`e`/', HOST: 'file://server/share' } }],
  ['a service', { args: ['git@example.com:a/b.git', 'https://example.com/~work/x', '^/a$/'] }],
  ['an empty text', { args: ['', '=', ':', '--', '/'], env: { EMPTY: '' } }],
])('%s does not', async (_, config) => {
  expect(await found(config)).toEqual([]);
});
