import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { listFiles } from '../../search/file-list.ts';
import { searchUnderRules } from '../../search/ruled-search.ts';

const NEEDLE = { pattern: 'needle' };

async function project() {
  const { root, path, put, call, context } = await temporaryWorkspace({
    'a/found.txt': 'needle\n',
    'a/out/made.txt': 'needle\n',
    'b/found.txt': 'needle\n',
  });
  const search = { folder: root, target: './', signal: context.signal };
  /** What each attempt of one search lists. */
  const attempts = async () => {
    const lists: string[][] = [];
    const last = await searchUnderRules(search, async (rules, signal) => {
      const list = (await listFiles({ folder: root, rules, signal })).sort();
      lists.push(list);
      return list;
    });
    expect(last).toEqual(lists.at(-1));
    return lists;
  };
  return { path, put, call, attempts };
}

const ALL = ['a/found.txt', 'a/out/made.txt', 'b/found.txt'];

it('a search is done once where the ignore files are those of the last one', async () => {
  const { put, attempts } = await project();
  expect(await attempts()).toEqual([ALL]);
  await put('a/.gitignore', 'out/\n');
  expect((await attempts()).at(-1)).toEqual(['a/found.txt', 'b/found.txt']);
  expect(await attempts()).toEqual([['a/found.txt', 'b/found.txt']]);
  // The search reads the files themselves each time.
  await put('a/.gitignore', 'found.txt\n');
  expect(await attempts()).toEqual([['a/out/made.txt', 'b/found.txt']]);
});

it.each([
  ['.gitignore', 'out/\n'],
  ['.ignore', 'out/*\n'],
  ['.cursorignore', '/out\n'],
])('an %s that was written since the last search holds', async (name, text) => {
  const { put, call } = await project();
  expect((await call('grep', NEEDLE)).data).toContain('a/out/made.txt');
  await put(`a/${name}`, text);
  for (let search = 0; search < 2; search++) {
    const { data } = await call('grep', NEEDLE);
    expect(data).toContain('a/found.txt');
    expect(data).not.toContain('made.txt');
  }
});

it('an ignore file that has gone since the last search closes nothing', async () => {
  const { path, put, call } = await project();
  await put('a/.gitignore', '*\n');
  expect((await call('grep', NEEDLE)).data).not.toContain('a/found.txt');
  await rm(path('a/.gitignore'));
  expect((await call('grep', NEEDLE)).data).toContain('a/found.txt');
});

it('an ignore file that is written while a search runs holds for what it returns', async () => {
  const { put, call } = await project();
  const running = call('grep', NEEDLE);
  await put('b/.cursorignore', 'found.txt\n');
  const [during, after] = [await running, await call('grep', NEEDLE)];
  expect(during.data).toContain('a/found.txt');
  expect(after.data).not.toContain('b/found.txt');
});
