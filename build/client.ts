/**
 * Makes `client/dist/`, or the folder of the first argument: what the package `drawbridge-client` consists of, the
 * client and the element, each as one module with its types.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { declareClient } from './client-types.ts';
import { bundleEmbed } from './embed.ts';
import { licencesOf } from './licences.ts';

const ROOT = join(import.meta.dirname, '..');

await buildClient(process.argv[2] ?? join(ROOT, 'client', 'dist'));

/** A build that fails leaves the old folder as it was. */
async function buildClient(target: string): Promise<void> {
  mkdirSync(join(ROOT, '.build'), { recursive: true });
  const dir = mkdtempSync(join(ROOT, '.build', 'client-'));
  try {
    const inputs = [
      ...(await bundle(join(dir, 'index.js'))),
      ...(await bundleEmbed(ROOT, join(dir, 'embed.js'))),
    ];
    writeFileSync(join(dir, 'THIRD-PARTY-LICENSES.txt'), licencesOf(ROOT, inputs));
    declareClient(ROOT, join(dir, 'types'));
    rmSync(target, { recursive: true, force: true });
    cpSync(dir, target, { recursive: true });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** One module for every runtime. An app's own bundler makes it small, so it stays readable here. */
async function bundle(outfile: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['client/index.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    metafile: true,
    mainFields: ['module', 'main'],
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}
