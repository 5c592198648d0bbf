import { execFileSync } from 'node:child_process';
import { describe, expect, it, vi } from 'vitest';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import { keepFoldersInMemory } from '../../../../test/in-memory.ts';
import { rulesFromAbove } from '../../../workspace/ignored/rules.ts';
import { listFiles } from '../../search/file-list.ts';
import { runRipgrep } from '../../search/ripgrep.ts';
import { listedByRipgrep, randomProject } from './random-project.ts';

keepFoldersInMemory();

it.each([
  ['with many ways through it', '**/a/'.repeat(100), 21],
  ['of stars', `${'**/'.repeat(100_000)}b`, 1],
  ['of brackets that stay open', `/${'['.repeat(500_000)}/b`, 0],
])('a rule %s holds no search up', (_, rule, rewritten) => {
  expect(rulesFromAbove(rule, Array(20).fill('a'))).toHaveLength(rewritten);
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
