import { execFileSync } from 'node:child_process';
import { utimes } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { readMachineContext } from '../../../bridge/context/context.ts';
import { rulesFromAbove } from '../../../bridge/ignored/rules.ts';
import { listFiles } from '../../../bridge/search/file-list.ts';
import { runRipgrep } from '../../../bridge/search/ripgrep.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { listedByRipgrep, randomProject } from './random-project.ts';
import { calls, expectNoHold, FILES, PLACES, TRAPS } from './traps.ts';

it.each([
  ['with many ways through it', '**/a/'.repeat(100), 21],
  ['of stars', `${'**/'.repeat(100_000)}b`, 1],
  ['of brackets that stay open', `/${'['.repeat(500_000)}/b`, 0],
])('a rule %s holds no search up', (_, rule, rewritten) => {
  expect(rulesFromAbove(rule, Array(20).fill('a'))).toHaveLength(rewritten);
});

describe('a trap in the place of ignore rules', () => {
  // Each trap and each place once; `test:deep` lays every trap in every place.
  it.each(TRAPS.map(([what, lay], at) => [PLACES[at % PLACES.length] ?? '', what, lay] as const))(
    '%s as %s holds no search up',
    async (place, _, lay) => await expectNoHold(place, lay),
  );

  it('is named where it stands above what is searched', async () => {
    const { call, path } = await temporaryWorkspace(FILES);
    execFileSync('mkfifo', [path('.gitignore')]);
    for (const [tool, args] of Object.entries(calls('sub'))) {
      const { data } = await call(tool, args);
      expect(data).toContain('.gitignore is a pipe, so its ignore rules were left out');
    }
  });

  it.each(['.gitignore', '.gitattributes', 'sub/.gitignore'])(
    'leaves the look at a repository within its bounds: %s',
    async (name) => {
      const { root, path } = await temporaryWorkspace(FILES);
      const git = (...args: string[]) => execFileSync('git', args, { cwd: root });
      git('init', '-q', '-b', 'main');
      git('add', '.');
      execFileSync('mkfifo', [path(name)]);
      // Git compares contents, and reads attributes for that, only where a file's time has changed.
      await utimes(path('needle.txt'), 0, 0);
      const context = await readMachineContext(root, new AbortController().signal);
      expect(context.projectLayout).toContain('needle.txt');
      expect(context.gitStatus).toContain(name === '.gitattributes' ? 'did not answer' : 'main');
    },
  );
});

describe('a search that nothing ends', () => {
  const drain = async (project: TemporaryWorkspace, signal = project.context.signal) => {
    execFileSync('mkfifo', [project.path('pipe')]);
    const search = {
      folder: project.root,
      flags: ['--regexp=x'],
      target: './pipe',
      rules: [[]],
    } as const;
    for await (const _ of runRipgrep({ ...search, separator: '\n', signal }));
  };

  it('ends when its time is up', async () => {
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout.call(AbortSignal, 300));
    const search = drain(await temporaryWorkspace());
    await expect(search).rejects.toMatchObject({ code: 'SEARCH_TIMED_OUT' });
  });

  it('ends when the call is cancelled', async () => {
    const cancelled = new AbortController();
    const search = drain(await temporaryWorkspace(), cancelled.signal);
    setTimeout(() => cancelled.abort(new Error('cancelled')), 300);
    await expect(search).rejects.toThrow('cancelled');
  });
});

describe('ignore rules', () => {
  it.each(['.', 'a', 'a/b', 'c d'])('hold in %s as ripgrep itself reads them', async (folder) => {
    for (let seed = 1; seed <= 2; seed++) {
      const project = await temporaryWorkspace(randomProject(seed));
      const found = await listFiles({
        folder: project.path(folder),
        hidden: seed % 2 === 0,
        signal: project.context.signal,
      });
      const flags = seed % 2 === 0 ? ['--hidden'] : [];
      expect([seed, found.sort()]).toEqual([seed, listedByRipgrep(project.path(folder), flags)]);
    }
  });

  it('hold up to the top of the repository, and those of its own list too', async () => {
    const { path, context, put } = await temporaryWorkspace({
      '.gitignore': '*.txt\n',
      'repo/.git/info/exclude': '/pkg/excluded.md\n',
      'repo/.gitignore': '/pkg/out/\n*.log\n',
      'repo/pkg/a.txt': '',
      'repo/pkg/a.log': '',
      'repo/pkg/out/b.md': '',
      'repo/pkg/excluded.md': '',
    });
    await put('repo/pkg/kept.md', '');
    const { signal } = context;
    const found = await listFiles({ folder: path('repo/pkg'), signal });
    expect(found.sort()).toEqual(['a.txt', 'kept.md']);
  });
});
