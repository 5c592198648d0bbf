/** Builds the Worker as one module from its sources; every start does this. */
import { LocalError } from '../../machine/local-error.ts';

/** Bundles `entry` into `outfile`. @throws {LocalError} with the first error in the sources. */
export async function bundleWorker(entry: string, outfile: string): Promise<void> {
  // Imported only here: commands that build nothing start without esbuild.
  const { build, stop } = await import('esbuild');
  building += 1;
  try {
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      target: 'esnext',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    });
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
