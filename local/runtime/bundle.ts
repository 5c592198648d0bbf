/** The Worker as one module, built from its sources with every start. */
import { LocalError } from '../../machine/local-error.ts';

/** Bundles `entry` into `outfile`. @throws {LocalError} with the first error of the sources. */
export async function bundleWorker(entry: string, outfile: string): Promise<void> {
  // Loaded here: commands that build nothing start without it.
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
    // The builds run in one process of esbuild's own, which would stay as long as this one. Ended under another build, it
    // would leave that one waiting for ever.
    if (building === 0) await stop();
  }
}

/** Builds under way in this process. */
let building = 0;

/** esbuild's message is a headline and one line for each error. */
function firstLineOf(error: unknown): string {
  const [headline, first] = String(error instanceof Error ? error.message : error).split('\n');
  return first ?? headline ?? '';
}
