import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleWorker, placeWorker } from '../../../local/runtime/bundle.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('builds that run at once in one process all come to their end', async () => {
  const folder = temporaryFolder();
  const sources = { small: 1, large: 2_000 };
  const outputs = Object.entries(sources).map(async ([name, lines]) => {
    const [entry, outfile] = [join(folder, `${name}.ts`), join(folder, `${name}.js`)];
    writeFileSync(
      entry,
      `export const ${name}: number[] = [];\n${`${name}.push(1);\n`.repeat(lines)}`,
    );
    await bundleWorker(entry, outfile);
    return readFileSync(outfile, 'utf8');
  });
  expect(await Promise.all(outputs)).toEqual([
    expect.stringContaining('small.push(1)'),
    expect.stringContaining('large.push(1)'),
  ]);
});

describe('the Worker of a clone', () => {
  test('is built once, and copied for each start', async () => {
    const clone = newClone();
    expect(await clone.place()).toContain('"one"');
    const [built = ''] = clone.builds();
    writeFileSync(built, 'kept');
    expect(await clone.place()).toBe('kept');
    expect(clone.builds()).toEqual([built]);
  });

  test('is the changed one after a change that leaves size and time of a file as they were', async () => {
    const clone = newClone();
    await clone.place();
    const { atime, mtime } = statSync(clone.words);
    writeFileSync(clone.words, wordsOf('two'));
    utimesSync(clone.words, atime, mtime);
    expect(await clone.place()).toContain('"two"');
  });

  test('is the changed one after an installation of packages', async () => {
    const clone = newClone();
    await clone.place();
    mkdirSync(join(clone.root, 'node_modules'));
    writeFileSync(join(clone.root, 'node_modules', '.package-lock.json'), '{}');
    await clone.place();
    expect(clone.builds()).toHaveLength(2);
  });

  test('is built by several first starts at once', async () => {
    const clone = newClone();
    const placed = await Promise.all(Array.from({ length: 4 }, () => clone.place()));
    expect(new Set(placed).size).toBe(1);
    expect(clone.builds()).toHaveLength(1);
  });

  test('is built for each start where it cannot be kept', async () => {
    const clone = newClone();
    writeFileSync(join(clone.root, '.build'), 'not a folder');
    expect(await clone.place()).toContain('"one"');
  });

  test('that does not compile is reported in one line, and nothing is kept', async () => {
    const clone = newClone();
    writeFileSync(clone.words, 'export const words = ;');
    await expect(clone.place()).rejects.toThrow(
      /^The Worker could not be built: .*words\.ts:1: \[PARSE_ERROR\] Unexpected token$/,
    );
    expect(clone.builds()).toEqual([]);
  });

  test('leaves no build of older sources behind', async () => {
    const clone = newClone();
    await clone.place();
    const long = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const dir of readdirSync(clone.cache)) utimesSync(join(clone.cache, dir), long, long);
    writeFileSync(clone.words, wordsOf('new'));
    expect(await clone.place()).toContain('"new"');
    expect(clone.builds()).toHaveLength(1);
  });
});

function wordsOf(words: string): string {
  return `export const words: string = '${words}';`;
}

/** A small clone with a Worker of two sources. */
function newClone() {
  const root = temporaryFolder();
  for (const folder of ['worker', 'shared']) mkdirSync(join(root, folder));
  const [entry, words] = [join(root, 'worker', 'index.ts'), join(root, 'shared', 'words.ts')];
  writeFileSync(entry, "export { words as default } from '../shared/words.ts';");
  writeFileSync(words, wordsOf('one'));
  const cache = join(root, '.build', 'worker');
  return {
    root,
    words,
    cache,
    builds: () => readdirSync(cache).map((name) => join(cache, name, 'worker.js')),
    place: async () => {
      const outfile = join(temporaryFolder(), 'worker.js');
      await placeWorker(entry, outfile);
      return readFileSync(outfile, 'utf8');
    },
  };
}
