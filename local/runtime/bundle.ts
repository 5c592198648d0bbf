/** Builds the Worker as one module from its sources. In a clone every start does this. */
import { copyFile } from 'node:fs/promises';
import { LocalError } from '../../machine/local-error.ts';

/** Names of the files that went into a module, as esbuild reports them. */
export interface Built {
  readonly inputs: readonly string[];
}

/**
 * Puts the Worker into `outfile`: bundles an entry among the sources, copies a module that is built already (`.js`),
 * so that an update of the package does not change a Worker that runs.
 * @throws {LocalError} with the first error in the sources.
 */
export async function placeWorker(entry: string, outfile: string): Promise<void> {
  if (entry.endsWith('.js')) await copyFile(entry, outfile);
  else await bundleWorker(entry, outfile);
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
