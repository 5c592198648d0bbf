/** Builds the Worker as one module from its sources. A clone keeps it until they change. */
import { mkdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import * as z from 'zod';
import { filesBelow, keyOf, openBuild } from '../../bin/kept-build.mjs';
import { LocalError } from '../../machine/local-error.ts';

/** Paths of the files that went into a module. */
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

/** The file of the exporter of spans beside the module of the Worker, in a package. */
export const EXPORTER = 'exporter.js';

/** Puts the exporter of spans that belongs to a Worker into `outfile`. As {@link placeWorker}; not kept, as few use it. */
export async function placeExporter(workerEntry: string, outfile: string): Promise<void> {
  const folder = dirname(workerEntry);
  if (workerEntry.endsWith('.js')) return await copyFile(join(folder, EXPORTER), outfile);
  await bundleWorker(join(folder, 'tail', 'exporter.ts'), outfile, { minify: true });
}

const PRODUCT = 'worker.js';
const SOURCE_FOLDERS = ['doors', 'packages', 'shared', 'worker'];
const OTHER_SOURCES = [
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.base.json',
  'local/runtime/bundle.ts',
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
  // Imported only here: commands that build nothing start without Rolldown.
  const { build } = await import('rolldown');
  try {
    const { output } = await build({
      input: entry,
      platform: 'neutral',
      resolve: {
        mainFields: ['module', 'main'],
        conditionNames: ['workerd', 'worker', 'browser'],
      },
      external: [/^cloudflare:/, /^node:/],
      // Making a schema or a pattern that nothing reads, or reading a property, has no effect here.
      // A method of another schema counts as an effect: schemas of the bridge alone say `z.optional(Name)`.
      treeshake: { manualPureFunctions: ['z', 'RegExp'], propertyReadSideEffects: false },
      logLevel: 'silent',
      output: { file: outfile, format: 'esm', minify, comments: !minify },
    });
    return { inputs: output[0].moduleIds };
  } catch (error) {
    throw new LocalError('failed', `The Worker could not be built: ${firstErrorOf(error)}`, {
      cause: error,
    });
  }
}

/** The first error in one line, after its place. Rolldown's own text has several, in colours, with an excerpt. */
function firstErrorOf(error: unknown): string {
  const first = BuildFailure.safeParse(error).data?.errors[0];
  if (!first) return String(error);
  const [line] = stripVTControlCharacters(first.message).split('\n', 1);
  return first.loc ? `${first.loc.file}:${first.loc.line}: ${line}` : `${line}`;
}

const BuildFailure = z.object({
  errors: z.array(
    z.object({
      message: z.string(),
      loc: z.object({ file: z.string(), line: z.int() }).optional(),
    }),
  ),
});
