import { execFileSync } from 'node:child_process';
import { rm, utimes } from 'node:fs/promises';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMachineContext } from '../../../../bridge/context/context.ts';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { keepFoldersInMemory } from '../../../../test/in-memory.ts';
import { listFiles } from '../../search/file-list.ts';
import { listedByRipgrep, randomProject } from './random-project.ts';
import { calls, expectNoHold, FILES, PLACES, TRAPS } from './traps.ts';

keepFoldersInMemory();

const FOLDERS = ['.', 'a', 'a/b', 'c d', '.h/a'];

it('ignore rules hold in every folder as ripgrep itself reads them', async () => {
  for (let seed = 1_000; seed < 1_100; seed++) {
    const project = await temporaryWorkspace(randomProject(seed));
    const { signal } = project.context;
    for (const folder of FOLDERS.map(project.path)) {
      const found = await listFiles({ folder, hidden: true, signal });
      const expected = listedByRipgrep(folder, ['--hidden']);
      expect([seed, folder, found.sort()]).toEqual([seed, folder, expected]);
    }
  }
});

it('ignore rules that change between two searches hold at the next one', async () => {
  const { path, put, context } = await temporaryWorkspace(randomProject(1));
  for (let seed = 2_000; seed < 2_100; seed++) {
    for (const [name, text] of Object.entries(randomProject(seed))) {
      if (!basename(name).endsWith('ignore')) continue;
      if (seed % 3 === 0) await rm(path(name), { force: true });
      else await put(name, text);
    }
    const folder = path(FOLDERS[seed % FOLDERS.length] ?? '.');
    const found = await listFiles({ folder, hidden: true, signal: context.signal });
    expect([seed, found.sort()]).toEqual([seed, listedByRipgrep(folder, ['--hidden'])]);
  }
});

it.each(PLACES.flatMap((place) => TRAPS.map(([what, lay]) => [place, what, lay] as const)))(
  '%s as %s holds no search up',
  async (place, _, lay) => await expectNoHold(place, lay),
);

describe('a trap in the place of ignore rules', () => {
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
