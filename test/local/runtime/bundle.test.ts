import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleWorker } from '../../../local/runtime/bundle.ts';
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
