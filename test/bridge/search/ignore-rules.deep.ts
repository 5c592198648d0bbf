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

it.each(PLACES.flatMap((place) => TRAPS.map(([what, lay]) => [place, what, lay] as const)))(
  '%s as %s holds no search up',
  async (place, _, lay) => await expectNoHold(place, lay),
);
