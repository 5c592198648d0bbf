import { execFile } from 'node:child_process';
import { access, chmod } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import { fullEnvironment, limitedEnvironment } from '../../launch/environment.ts';

const run = promisify(execFile);
const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];

/** Git as a person uses it. */
async function git(cwd: string, ...args: string[]): Promise<void> {
  await run('git', [...IDENTITY, ...args], { cwd });
}

/** Git as a command uses it; it may fail. */
async function gitOfCommand(
  cwd: string,
  args: readonly string[],
  env = limitedEnvironment({ PATH: process.env['PATH'] }),
): Promise<void> {
  await run('git', [...IDENTITY, ...args], { cwd, env }).catch(() => {});
}

async function repository(): Promise<TemporaryWorkspace> {
  const place = await temporaryWorkspace({ 'a.txt': 'a\n' });
  await git(place.root, 'init', '--initial-branch=main');
  await git(place.root, 'add', '.');
  await git(place.root, 'commit', '--message=first');
  await place.put('a.txt', 'changed\n');
  return place;
}

const trapOf = (place: TemporaryWorkspace) => `touch ${place.path('sprung')}; false`;
const isSprung = (place: TemporaryWorkspace) =>
  access(place.path('sprung')).then(
    () => true,
    () => false,
  );

/** What file tools can write: a folder that git takes for a repository. */
async function putEmbedded(place: TemporaryWorkspace): Promise<void> {
  await place.put('e/HEAD', 'ref: refs/heads/main\n');
  await place.put('e/objects/a', '');
  await place.put('e/refs/a', '');
  const core = `repositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "${trapOf(place)}"`;
  await place.put('e/config', `[core]\n\t${core}\n`);
}

async function putHook(place: TemporaryWorkspace, name: string): Promise<void> {
  await place.put(`hooks/${name}`, `#!/bin/sh\n${trapOf(place)}\n`);
  await chmod(place.path(`hooks/${name}`), 0o755);
  await git(place.root, 'config', 'core.hooksPath', 'hooks');
}

/** A commit that says it is signed, which git asks a program about. */
async function commitSigned(place: TemporaryWorkspace): Promise<void> {
  const { stdout } = await run('git', ['cat-file', 'commit', 'HEAD'], { cwd: place.root });
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n';
  await place.put('commit', stdout.replace('\n\n', `\n${signature}`));
  const args = ['hash-object', '-t', 'commit', '-w', 'commit'];
  const { stdout: id } = await run('git', args, { cwd: place.root });
  await git(place.root, 'reset', '--soft', id.trim());
}

describe('git in a command', () => {
  test.each<[string, (place: TemporaryWorkspace) => Promise<void>, string, string[]]>([
    ['of an embedded repository', putEmbedded, 'e', ['status']],
    [
      'to watch files',
      (place) => git(place.root, 'config', 'core.fsmonitor', trapOf(place)),
      '.',
      ['status'],
    ],
    [
      'to watch files of a submodule',
      async (place) => {
        const inner = await repository();
        const from = ['-c', 'protocol.file.allow=always', 'submodule', 'add', inner.root, 'sub'];
        await git(place.root, ...from);
        await git(place.path('sub'), 'config', 'core.fsmonitor', trapOf(place));
      },
      '.',
      ['status'],
    ],
    ['as a hook', (place) => putHook(place, 'pre-commit'), '.', ['commit', '--all', '-m', 'x']],
    [
      'as an editor',
      (place) => git(place.root, 'config', 'core.editor', `sh -c '${trapOf(place)}'`),
      '.',
      ['commit', '--all'],
    ],
    [
      'as an editor of lists',
      (place) => git(place.root, 'config', 'sequence.editor', `sh -c '${trapOf(place)}'`),
      '.',
      ['rebase', '--interactive', '--autostash', '--root'],
    ],
    [
      'to look at signatures',
      async (place) => {
        await commitSigned(place);
        await git(place.root, 'config', 'log.showSignature', 'true');
        await place.put('gpg', `#!/bin/sh\n${trapOf(place)}\n`);
        await chmod(place.path('gpg'), 0o755);
        await git(place.root, 'config', 'gpg.program', place.path('gpg'));
      },
      '.',
      ['log'],
    ],
  ])('runs nothing that a repository configures %s', async (_, set, folder, args) => {
    const place = await repository();
    await set(place);
    await gitOfCommand(place.path(folder), args);
    expect(await isSprung(place)).toBe(false);
    await gitOfCommand(place.path(folder), args, { PATH: process.env['PATH'] ?? '' });
    expect({ 'a trap that works': await isSprung(place) }).toEqual({ 'a trap that works': true });
  });

  test('runs hooks with the permission to write to .git: they are part of a commit', async () => {
    const place = await repository();
    await putHook(place, 'pre-commit');
    const env = limitedEnvironment({ PATH: process.env['PATH'] }, ['git_write']);
    await gitOfCommand(place.root, ['commit', '--all', '--message=x'], env);
    expect(await isSprung(place)).toBe(true);
  });

  test('still knows its repository, its worktrees and bare ones that a command names', async () => {
    const place = await repository();
    const env = limitedEnvironment({ PATH: process.env['PATH'] });
    const ask = async (cwd: string, ...args: string[]) =>
      (await run('git', [...IDENTITY, ...args], { cwd, env })).stdout;
    expect(await ask(place.root, 'status', '--short')).toBe(' M a.txt\n');
    await ask(place.root, 'worktree', 'add', '-b', 'other', 'tree');
    expect(await ask(place.path('tree'), 'status', '--branch', '--short')).toBe('## other\n');
    await ask(place.root, 'init', '--bare', 'bare');
    await ask(place.root, 'push', 'bare', 'main');
    expect(await ask(place.root, '--git-dir=bare', 'branch')).toContain('main');
  });

  test('with all permissions keeps the person’s own settings, and trusts no embedded repository', async () => {
    const own = {
      PATH: process.env['PATH'],
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'color.status',
      GIT_CONFIG_VALUE_0: 'always',
    };
    const place = await repository();
    await putEmbedded(place);
    const env = fullEnvironment(own);
    const asked = run('git', ['config', 'color.status'], { cwd: place.root, env });
    expect((await asked).stdout).toBe('always\n');
    await gitOfCommand(place.path('e'), ['status'], env);
    expect(await isSprung(place)).toBe(false);
    await gitOfCommand(place.path('e'), ['status'], { PATH: process.env['PATH'] ?? '' });
    expect(await isSprung(place)).toBe(true);
  });

  test('with all permissions runs hooks', async () => {
    const place = await repository();
    await putHook(place, 'pre-commit');
    const env = fullEnvironment({ PATH: process.env['PATH'] });
    await gitOfCommand(place.root, ['commit', '--all', '--message=x'], env);
    expect(await isSprung(place)).toBe(true);
  });

  test('with all permissions does not lead to the bridge’s editor', () => {
    const own = { GEMINI_CLI_IDE_AUTH_TOKEN: 'a', QWEN_CODE_IDE_SERVER_PORT: '1', GOROOT: '/go' };
    const given = fullEnvironment({ ...own, DRAWBRIDGE_IDE_PORT: '1' });
    expect(Object.keys(given).filter((name) => /IDE|GOROOT/.test(name))).toEqual(['GOROOT']);
  });

  test('is given none of the bridge’s own settings under limits', () => {
    const own = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'secret' };
    expect(Object.values(limitedEnvironment(own))).not.toContain('secret');
  });

  test.each([['x'], ['-1'], [''], ['1e9']])('survives a count of settings that is %j', (count) => {
    const env = fullEnvironment({ GIT_CONFIG_COUNT: count });
    expect(env['GIT_CONFIG_COUNT']).toBe('2');
  });
});
