import { expect, it } from 'vitest';
import { type CompletionEntry, newEntry, rank } from '../../../bridge/completion/rank.ts';

const entriesOf = (...paths: string[]) =>
  paths.map((path) => newEntry({ path, type: path.endsWith('/') ? 'folder' : 'file' }));

async function ranked(
  entries: readonly CompletionEntry[],
  query: string,
  { open = [], limit = 50 }: { open?: readonly string[]; limit?: number } = {},
) {
  const how = { query, preferred: new Set(open), mayShow: () => true, limit };
  return (await rank(entries, how)).map(({ path }) => path);
}

it.each<[query: string, best: readonly string[]]>([
  ['page', ['src/page.ts', 'src/page/', 'src/pages.ts', 'src/homepage.ts', 'src/page/a.ts']],
  ['PAGE', ['src/page.ts', 'src/page/', 'src/pages.ts', 'src/homepage.ts', 'src/page/a.ts']],
  ['src/p', ['src/page/a.ts', 'src/pages.ts', 'src/page.ts', 'src/page/', 'lib/src/p.ts']],
  ['src/', ['src/', 'lib/src/', 'src/homepage.ts', 'src/page/a.ts']],
  ['pgs', ['src/homepage.ts', 'src/pages.ts', 'src/page.ts']],
  ['pagea', ['src/page/a.ts']],
  ['pagez', []],
])('finds by “%s”, the name before the folders', async (query, best) => {
  const entries = entriesOf(
    ...['src/homepage.ts', 'src/page/a.ts', 'src/pages.ts', 'src/page.ts'],
    ...['src/page/', 'src/', 'lib/src/p.ts', 'lib/src/'],
  );
  expect((await ranked(entries, query)).slice(0, best.length || 50)).toEqual(best);
});

it('prefers of equal matches what is open, then the order of the entries', async () => {
  const entries = entriesOf('a/x.ts', 'b/x.ts', 'c/x.ts', 'c/x-other.ts');
  const open = ['c/x.ts', 'c/x-other.ts'];
  expect(await ranked(entries, 'x', { open })).toEqual(['c/x.ts', 'a/x.ts', 'b/x.ts', open[1]]);
  expect(await ranked(entries, '')).toEqual(entries.map(({ path }) => path));
});

it('finds every generated name by every part of it, and only what has its characters', async () => {
  const syllables = ['ba', 'Ko', 'ünï', '漢', 'x1', '-', '_', '.', ' '];
  const nameOf = (index: number) =>
    [1, 9, 81].map((power) => syllables[Math.floor(index / power) % 9]).join('');
  const entries = entriesOf(
    ...Array.from(
      { length: 2_000 },
      (_, index) => `${nameOf(index)}/f${nameOf(index * 7)}${index}`,
    ),
  );
  for (const { path } of entries.filter((_, index) => index % 40 === 0)) {
    const queries = [path, path.slice(2), path.replace(/[^/]*\//, ''), path.replace(/.\//, '')];
    for (const query of queries) {
      const found = await ranked(entries, query, { limit: 2_000 });
      expect(found).toContain(path);
      const inOrder = inOrderOf(query);
      expect([query, found.filter((other) => !inOrder.test(other.toLowerCase()))]).toEqual([
        query,
        [],
      ]);
      const few = await ranked(entries, query, { limit: 7 });
      expect(few).toEqual(found.slice(0, 7));
    }
  }
});

/** Matches the paths, in lower case, that have the characters of the query in their order. */
function inOrderOf(query: string): RegExp {
  const escaped = [...query.toLowerCase()].map((each) =>
    each.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&'),
  );
  return new RegExp(escaped.join('.*'));
}

it('asks about no more entries than it needs', async () => {
  const entries = entriesOf(...Array.from({ length: 1_000 }, (_, index) => `f${index}.ts`));
  const asked: string[] = [];
  const mayShow = ({ path }: CompletionEntry) => {
    asked.push(path);
    return !path.endsWith('1.ts');
  };
  const found = await rank(entries, { query: 'f', preferred: new Set(), mayShow, limit: 3 });
  expect(found.map(({ path }) => path)).toEqual(['f0.ts', 'f2.ts', 'f3.ts']);
  expect(asked).toEqual(['f0.ts', 'f1.ts', 'f2.ts', 'f3.ts']);
});
