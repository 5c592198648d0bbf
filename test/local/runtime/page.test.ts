import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildPage } from '../../../local/runtime/page.ts';
import { KIB } from '../../../shared/units.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** 1.2 s on a phone line of 400 kbit/s. The figure of `npm run bench:page -- load`. */
const MAX_BYTES = 60 * KIB;

test('the first load of the page has at most 60 KiB, gzipped, and nothing that is loaded later', async () => {
  const folder = temporaryFolder();
  await buildPage(ROOT, folder);
  const index = readFileSync(join(folder, 'index.html'), 'utf8');
  const names = [...index.matchAll(/page\/[\w.-]+/g)].map(([name]) => name);
  const files = ['index.html', 'icon.svg', ...names].map((name) =>
    readFileSync(join(folder, name)),
  );
  const bytes = files.reduce((total, file) => total + gzipSync(file).length, 0);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  const later = ['navigator.credentials', 'PushManager', 'drawbridge mcp', 'maxFrameBytes'];
  const script = files.join('\n');
  expect(later.filter((words) => script.includes(words))).toEqual([]);
});
