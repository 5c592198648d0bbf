import { execFile } from 'node:child_process';
import { access, chmod, rm } from 'node:fs/promises';
import { type as osType, release, userInfo } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { formatLayout } from '../../../bridge/compute/layout.ts';
import { readMachineContext } from '../../../bridge/context/context.ts';
import { STATUS_LIMITS } from '../../../bridge/context/limits.ts';
import { findBubblewrap } from '../../../packages/sandbox/launch/bubblewrap.ts';
import { bubblewrapConfinement } from '../../../packages/sandbox/launch/bubblewrap-confinement.ts';
import type { Confinement } from '../../../packages/sandbox/launch/confinement.ts';
import { SHELL, shellArgv } from '../../../packages/sandbox/terminal/launch.ts';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { CONTEXT_LIMITS } from '../../../shared/limits.ts';
import { MachineContext } from '../../../shared/wire/tunnel.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';

const live = new AbortController().signal;
beforeEach(() => {
  // Git takes its time on a busy machine.
  vi.spyOn(CONTEXT_LIMITS, 'lookTimeoutMs', 'get').mockReturnValue(60_000 as never);
  vi.spyOn(STATUS_LIMITS, 'gitStatusMs', 'get').mockReturnValue(60_000 as never);
});

/** Git as a person uses it; what the bridge asks it is what is tested. */
async function git(place: Pick<TemporaryWorkspace, 'root'>, ...args: string[]): Promise<void> {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  await promisify(execFile)('git', [...identity, ...args], { cwd: place.root });
}

async function repository(files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const place = await temporaryWorkspace(files);
  await git(place, 'init', '--initial-branch=main');
  await git(place, 'add', '.');
  await git(place, 'commit', '--message=first');
  return place;
}

describe('the context of a machine', () => {
  test('has the system, the shell, the folder, its files and git’s view of it', async () => {
    const place = await repository({ 'a.txt': 'a\n', 'src/b.ts': 'b\n' });
    await place.put('a.txt', 'changed\n');
    const context = await readMachineContext(place.root, live);
    expect(MachineContext.parse(context)).toEqual({
      os: `${osType()} ${release()}`,
      shell: basename(SHELL),
      workspacePath: place.root,
      projectLayout: 'src/\n  b.ts\na.txt',
      gitStatus: '## main\n M a.txt\n',
    });
  });

  test('names the shell that runs commands, not the person’s own', async () => {
    vi.stubEnv('SHELL', '/usr/bin/fish');
    const { root } = await temporaryWorkspace();
    const [file, ...args] = shellArgv('basename "$0"');
    const { stdout } = await promisify(execFile)(file, args);
    expect(await readMachineContext(root, live)).toMatchObject({ shell: stdout.trim() });
  });

  test('says how far the branch is ahead of the one that it follows, and behind', async () => {
    const place = await repository();
    await git(place, 'branch', 'base');
    for (const name of ['b.txt', 'c.txt']) {
      await place.put(name, name);
      await git(place, 'add', '.');
      await git(place, 'commit', `--message=${name}`);
    }
    await git(place, 'checkout', '-b', 'topic', '--track', 'base');
    await git(place, 'commit', '--allow-empty', '--message=topic');
    await git(place, 'branch', '--force', 'base', 'main');
    const { gitStatus } = await readMachineContext(place.root, live);
    expect(gitStatus).toBe('## topic...base [ahead 1, behind 2]\n');
  });

  test('has no git status without a repository', async () => {
    const place = await temporaryWorkspace({ 'a.txt': 'a' });
    expect(await readMachineContext(place.root, live)).not.toHaveProperty('gitStatus');
  });

  test('has no files of a folder that is gone', async () => {
    const place = await temporaryWorkspace();
    await rm(place.root, { recursive: true });
    expect(await readMachineContext(place.root, live)).toMatchObject({ projectLayout: '' });
  });

  test('names nothing that it may not', async () => {
    const place = await repository({ 'a.txt': 'a\n', 'private/b.txt': 'b\n', 'c.txt': 'c\n' });
    await place.put('private/b.txt', 'changed\n');
    await place.put('private/new/d.txt', 'd\n');
    await place.put('a b".txt', '\n');
    await git(place, 'mv', 'a.txt', 'private/a.txt');
    await git(place, 'mv', 'c.txt', 'd.txt');
    const mayName = (name: string) => !name.startsWith('private/');
    expect(await readMachineContext(place.root, live, { mayName })).toMatchObject({
      projectLayout: 'a b".txt\nd.txt',
      gitStatus: '## main\nR  c.txt -> d.txt\n?? "a b\\".txt"\n',
    });
  });

  test('is not read to its end after its signal', async () => {
    const { root } = await repository();
    await expect(readMachineContext(root, AbortSignal.abort())).rejects.toThrow();
  });

  test('has nothing of the repository around the workspace', async () => {
    const place = await repository({ 'inner/a.txt': 'a', 'secret.txt': 's' });
    await place.put('secret.txt', 'changed');
    await place.put('inner/a.txt', 'changed');
    const { gitStatus } = await readMachineContext(place.path('inner'), live);
    expect(gitStatus).toBe('## main\n M a.txt\n');
  });

  test.skipIf(NO_BUBBLEWRAP)('runs nothing that is configured while it looks', async () => {
    const place = await repository({ 'a.txt': 'a\n', '.gitattributes': '* filter=late\n' });
    const found = await findBubblewrap();
    if (!found.ok) throw new Error(found.reason);
    const owned = join(place.root, '../owned');
    const { uid, gid, username: name } = userInfo();
    const account = { uid, gid, name, home: '/nonexistent', prefix: [] };
    const surroundings = {
      workspace: place.root,
      home: '/nonexistent',
      closedFolders: [],
      maskFolder: '/tmp/masks',
      environment: {},
    };
    const made = await bubblewrapConfinement(found.bubblewrap, account, surroundings);
    if (!made.ok) throw new Error(made.reason);
    const { confineLook } = made.confinement;
    const confine: Confinement['confineLook'] = async (launch) => {
      await git(place, 'config', 'filter.late.clean', `touch ${owned} ${place.path('owned')}; cat`);
      await place.put('a.txt', 'b\n');
      return await confineLook(launch);
    };
    const { gitStatus } = await readMachineContext(place.root, live, { confine });
    expect(gitStatus).toBe('## main\n M a.txt\n');
    await expect(access(owned)).rejects.toThrow('ENOENT');
    await expect(access(place.path('owned'))).rejects.toThrow('ENOENT');
  });

  test('cuts a long status between two lines', async () => {
    const place = await repository();
    for (let count = 0; count < 200; count++) await place.put(`a rather long name ${count}`, '');
    const { gitStatus = '' } = await readMachineContext(place.root, live);
    expect(gitStatus).toMatch(
      /^\?\? "a rather long name \d+"\n\.\.\. \(cut: \d+ more lines, run git status\)$/m,
    );
    expect(gitStatus.length).toBeLessThanOrEqual(STATUS_LIMITS.maxGitStatusChars);
  });
});

describe('a hostile repository', () => {
  type SetTrap = (place: TemporaryWorkspace, trap: string) => Promise<void>;
  /** Settings of the repository; `TRAP` in one is the program. */
  const settings =
    (attributes: string, ...lines: readonly string[]): SetTrap =>
    async (place, trap) => {
      for (const line of lines) {
        const [name = '', value = ''] = line.split(' ');
        await git(place, 'config', name, value.replace('TRAP', trap));
      }
      if (attributes !== '') await place.put('.gitattributes', `* ${attributes}\n`);
    };
  const filter = (name: string) =>
    settings(`filter=${name}`, `filter.${name}.clean TRAP`, `filter.${name}.required true`);

  const unnamedFilter: SetTrap = async (place, trap) => {
    const config = await place.text('.git/config');
    await place.put('.git/config', `${config}[filter ""]\n\tclean = ${trap}\n`);
    await place.put('.gitattributes', '* filter=\n');
  };
  const filterOfWorktree: SetTrap = async (place, trap) => {
    await git(place, 'config', 'extensions.worktreeConfig', 'true');
    await git(place, 'config', '--worktree', 'filter.x.clean', trap);
    await place.put('.gitattributes', '* filter=x\n');
  };
  const differences = settings(
    'diff=x',
    ...[
      'diff.external TRAP',
      'diff.x.command TRAP',
      'diff.x.textconv TRAP',
      'status.renames copies',
    ],
  );
  const filterProcess: SetTrap = async (place, trap) => {
    await git(place, 'config', 'filter.x.process', trap);
    await place.put('.git/info/attributes', '* filter=x\n');
  };
  const includedFilter: SetTrap = async (place, trap) => {
    await place.put('more', `[filter "x"]\n\tclean = ${trap}\n`);
    await settings('filter=x', 'include.path ../more')(place, trap);
  };
  const hook: SetTrap = async (place, trap) => {
    await putProgram(place, 'hooks/post-index-change', trap);
    await git(place, 'config', 'core.hooksPath', 'hooks');
  };
  const submodule: SetTrap = async (place, trap) => {
    const inner = await repository();
    await git(place, '-c', 'protocol.file.allow=always', 'submodule', 'add', inner.root, 'sub');
    await git({ root: place.path('sub') }, 'config', 'core.fsmonitor', trap);
  };
  const promisedObjects: SetTrap = async (place, trap) => {
    await settings(
      '',
      ...['core.repositoryFormatVersion 1', 'extensions.partialClone origin'],
      ...['remote.origin.promisor true', 'remote.origin.url ssh://nowhere/x'],
      ...['core.sshCommand TRAP', 'protocol.ssh.allow always'],
    )(place, trap);
    await rm(place.path('.git/objects'), { recursive: true });
    await place.put('.git/objects/info/keep', '');
  };
  const ownGit: SetTrap = async (place, trap) => {
    await putProgram(place, 'bin/git', trap);
    const folders = [place.path('bin'), './bin', 'bin', process.env['PATH'] ?? ''];
    vi.stubEnv('PATH', folders.join(delimiter));
  };
  const gitOfAnother: SetTrap = async (_, trap) => {
    const other = await temporaryWorkspace();
    await putProgram(other, 'bin/git', trap);
    vi.stubEnv('PATH', [other.path('bin'), process.env['PATH'] ?? ''].join(delimiter));
  };

  async function putProgram(place: TemporaryWorkspace, name: string, trap: string) {
    await place.put(name, `#!/bin/sh\n${trap}\n`);
    await chmod(place.path(name), 0o755);
  }

  test.each<[string, SetTrap]>([
    ['a file system monitor', settings('', 'core.fsmonitor TRAP')],
    ['a clean filter', filter('x')],
    ['a clean filter with dots in its name', filter('x.y')],
    ['a clean filter with an equals sign in its name', filter('a=b')],
    ['a clean filter without a name', unnamedFilter],
    ['a filter of its worktree', filterOfWorktree],
    ['programs for differences', differences],
    ['a filter process', filterProcess],
    ['a filter in an included file', includedFilter],
    ['a hook', hook],
    ['a submodule with a configuration of its own', submodule],
    ['objects that are to be fetched by a command', promisedObjects],
    ['a git of its own on the path', ownGit],
    ['a git on the path from another project, whose agent could have made it', gitOfAnother],
  ])('with %s runs nothing when it is looked at', async (_, set) => {
    const place = await repository();
    await place.put('trap.sh', `touch ${place.path('sprung')}\n`);
    await set(place, `sh ${place.path('trap.sh')}`);
    // Of another size or time than the index says, so that git has to look into it.
    await place.put('a.txt', 'b\n');
    await readMachineContext(place.root, live);
    await expect(place.text('sprung')).rejects.toThrow('ENOENT');
  });

  test('that is a folder which only looks like one is none', async () => {
    const place = await temporaryWorkspace();
    await git(place, 'init', '--bare', 'bare');
    await git({ root: place.path('bare') }, 'config', 'core.bare', 'false');
    await git({ root: place.path('bare') }, 'config', 'core.worktree', '.');
    expect(await readMachineContext(place.path('bare'), live)).not.toHaveProperty('gitStatus');
  });

  test('with a filter still has its status', async () => {
    const place = await repository();
    await git(place, 'config', 'filter.x.clean', 'false');
    await place.put('.gitattributes', '* filter=x\n');
    await place.put('a.txt', 'changed\n');
    const { gitStatus } = await readMachineContext(place.root, live);
    expect(gitStatus).toBe('## main\n M a.txt\n?? .gitattributes\n');
  });
});

describe('the layout', () => {
  const many = (count: number, folder: string) =>
    Array.from({ length: count }, (_, index) => `${folder}f${String(index).padStart(4, '0')}.txt`);
  const { maxLayoutEntries, maxLayoutChars } = CONTEXT_LIMITS;
  const cut = (count: number) => `... (cut: ${count} more top-level names, use list_dir)`;

  test.each<[string, string[], string[]]>([
    ['of nothing is empty', [], ['']],
    [
      'names folders once, and before files',
      ['b', 'a/d/e', 'a/c', 'z/y'],
      ['a/', '  d/', '    e', '  c', 'z/', '  y', 'b'],
    ],
    [
      'keeps folders apart whose names begin alike',
      ['a/x', 'a-b/x', 'a.ts'],
      ['a-b/', '  x', 'a/', '  x', 'a.ts'],
    ],
    [
      'does not look into a folder for which there is no room',
      [...many(1000, 'big/'), 'src/a.ts', 'b'],
      ['big/ (1000 files)', 'src/ (1 file)', 'b'],
    ],
    [
      'goes as deep as there is room for all',
      [...many(1000, 'a/big/'), 'src/x/a.ts'],
      ['a/', '  big/ (1000 files)', 'src/', '  x/ (1 file)'],
    ],
    [
      'shows as many files as there is room for',
      many(maxLayoutEntries, ''),
      many(maxLayoutEntries, ''),
    ],
    [
      'is cut where even the top is too much',
      many(maxLayoutEntries + 1, ''),
      [...many(maxLayoutEntries - 1, ''), cut(2)],
    ],
  ])('%s', (_, files, expected) => {
    expect(formatLayout(files.join('\0')).split('\n')).toEqual(expected);
  });

  test('is cut between names when those are long', () => {
    const names = many(maxLayoutEntries, 'x'.repeat(100));
    const lines = formatLayout(names.join('\0')).split('\n');
    expect([lines.at(-1), lines.slice(0, -1)]).toEqual([
      cut(names.length - lines.length + 1),
      names.slice(0, lines.length - 1),
    ]);
    expect(lines.join('\n').length).toBeLessThanOrEqual(maxLayoutChars);
  });
});
