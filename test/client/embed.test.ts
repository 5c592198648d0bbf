import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { bundleEmbed } from '../../build/embed.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** An app's page loads it whole, beside all that the app has: as much as the page of a chat may weigh without being slow. */
const MAX_BYTES = 40 * 1024;

it('is one file of less than 40 KB, gzipped, without a device key, a storage or a highlighter', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-embed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inputs = await bundleEmbed(ROOT, join(folder, 'embed.js'));
  const script = readFileSync(join(folder, 'embed.js'));
  expect(gzipSync(script).length).toBeLessThan(MAX_BYTES);
  const packages = inputs.flatMap((path) => /^node_modules\/([^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toEqual([
    'diff',
    'eventsource-parser',
    'preact',
    'streaming-markdown',
  ]);
  const words = ['allowCall', 'indexedDB', 'localStorage', 'document.cookie', 'eval('];
  expect(words.filter((word) => script.includes(word))).toEqual([]);
});
