import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const ROOT = new URL('../..', import.meta.url).pathname;

/** A page loads it at its start. What is above 15 KB tells a page that a server does not list it. */
const MAX_BYTES = 15.5 * 1024;

it('is less than 16 KB of a web page, gzipped, and has no zod', async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: "export * from './client/index.ts';", resolveDir: ROOT },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(MAX_BYTES);
  const packages = Object.keys(metafile.inputs).filter((path) => path.startsWith('node_modules/'));
  expect(new Set(packages.map((path) => path.split('/')[1]))).toEqual(
    new Set(['eventsource-parser']),
  );
});
