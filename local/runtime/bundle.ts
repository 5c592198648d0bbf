/** Builds the Worker as one module from its sources. A clone keeps it until they change. */
import { mkdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { filesBelow, keyOf, openBuild } from '../../bin/kept-build.mjs';
import { LocalError } from '../../machine/local-error.ts';

/** Names of the files that went into a module, as esbuild reports them. */
export interface Built {
  readonly inputs: readonly string[];
}

/**
 * Puts the Worker into `outfile`. `entry` is `worker/index.ts` in a clone, or a module that is built already (`.js`).
 * The file is a copy, so that an update of the clone or the package does not change a Worker that runs.
 * @throws {LocalError} with the first error in the sources.
 */
export async function placeWorker(entry: string, outfile: string): Promise<void> {
  if (entry.endsWith('.js')) return await copyFile(entry, outfile);
  const kept = await openKept(entry).catch(() => undefined);
  // Nothing can be kept, for example in a read-only folder, or the sources do not compile, which is reported here.
  if (!kept) return void (await bundleWorker(entry, outfile));
  try {
    await copyFile(join(kept.dir, PRODUCT), outfile);
  } finally {
    kept.close();
  }
}

const PRODUCT = 'worker.js';
const SOURCE_FOLDERS = ['cursor', 'shared', 'worker'];
const OTHER_SOURCES = [
  ...['package.json', 'package-lock.json', 'node_modules/.package-lock.json'],
  ...['tsconfig.base.json', 'local/runtime/bundle.ts'],
];

async function openKept(entry: string): ReturnType<typeof openBuild> {
  // The key has the sources of a clone only: two other entries in folders side by side would share a build.
  if (!entry.endsWith(join('worker', 'index.ts'))) throw new Error(`${entry} is no clone's Worker`);
  const root = dirname(dirname(entry));
  const cache = join(root, '.build', 'worker');
  mkdirSync(cache, { recursive: true });
  const sources = filesBelow(
    SOURCE_FOLDERS.map((name) => join(root, name)),
    /\.(?:ts|json)$/,
  );
  const others = OTHER_SOURCES.map((name) => join(root, name));
  return await openBuild({
    cache,
    key: keyOf([...sources, ...others]),
    product: PRODUCT,
    build: async (outdir) => void (await bundleWorker(entry, join(outdir, PRODUCT))),
  });
}

/** Bundles `entry` into `outfile`. @throws {LocalError} with the first error in the sources. */
export async function bundleWorker(
  entry: string,
  outfile: string,
  { minify = false } = {},
): Promise<Built> {
  // Imported only here: commands that build nothing start without esbuild.
  const { build, stop } = await import('esbuild');
  building += 1;
  try {
    const { metafile } = await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      minify,
      metafile: true,
      format: 'esm',
      target: 'esnext',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    });
    return { inputs: Object.keys(metafile.inputs) };
  } catch (error) {
    throw new LocalError('failed', `The Worker could not be built: ${firstLineOf(error)}`, {
      cause: error,
    });
  } finally {
    building -= 1;
    // esbuild runs all builds in one child process, which lives as long as this process unless it is stopped. Stopping
    // it during another build would leave that build waiting for ever.
    if (building === 0) await stop();
  }
}

/** The number of builds in progress in this process. */
let building = 0;

/** The first error: esbuild's message is a headline and then one line for each error. */
function firstLineOf(error: unknown): string {
  const [headline, first] = String(error instanceof Error ? error.message : error).split('\n');
  return first ?? headline ?? '';
}
