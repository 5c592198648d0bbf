import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { listFiles } from '../../../bridge/search/file-list.ts';
import { temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { listedByRipgrep, randomProject } from './random-project.ts';
import { expectNoHold, PLACES, TRAPS } from './traps.ts';

const FOLDERS = ['.', 'a', 'a/b', 'c d', '.h/a'];

it.each(FOLDERS)('ignore rules hold in %s as ripgrep itself reads them', async (folder) => {
  for (let seed = 1_000; seed < 1_100; seed++) {
    const project = await temporaryWorkspace(randomProject(seed));
    const { signal } = project.context;
    const found = await listFiles({ folder: project.path(folder), hidden: true, signal });
    const expected = listedByRipgrep(project.path(folder), ['--hidden']);
    expect([seed, found.sort()]).toEqual([seed, expected]);
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
