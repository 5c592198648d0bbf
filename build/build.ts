/** `npm run build`: makes `dist/`, which the package consists of. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { copyGrammars, describeBundle } from '../bin/bundle.mjs';
import { bundleWorker, EXPORTER, placeExporter } from '../local/runtime/bundle.ts';
import { buildPage, PAGE_FOLDER } from '../local/runtime/page.ts';
import { licencesOf } from './licences.ts';
import { packageConfig } from './package-config.ts';

const ROOT = join(import.meta.dirname, '..');

await buildPackage(join(ROOT, 'dist'));

/** A build that fails leaves the old folder as it was. */
async function buildPackage(target: string): Promise<void> {
  mkdirSync(join(ROOT, '.build'), { recursive: true });
  const dir = mkdtempSync(join(ROOT, '.build', 'dist-'));
  try {
    const inputs = [...(await buildProgram(dir)), ...(await buildWorker(dir))];
    writeFileSync(join(dir, 'THIRD-PARTY-LICENSES.txt'), licencesOf(ROOT, inputs));
    rmSync(target, { recursive: true, force: true });
    renameSync(dir, target);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The command for Node, and the thread of its long computations. Returns the files that went into it. */
async function buildProgram(dir: string): Promise<string[]> {
  const { metafile } = await build({
    ...describeBundle(ROOT, join(dir, 'cli')),
    minify: true,
    // What a function or a class calls itself stays: errors that are logged name classes.
    keepNames: true,
    metafile: true,
  });
  const grammars = copyGrammars(ROOT, join(dir, 'cli')).map((file) => relative(ROOT, file));
  return [...Object.keys(metafile.inputs), ...grammars];
}

/** The Worker as one module, with the web page, the configuration that deploys it and the types of what it exports. */
async function buildWorker(dir: string): Promise<readonly string[]> {
  const folder = join(dir, 'worker');
  mkdirSync(folder);
  const { inputs } = await bundleWorker(
    join(ROOT, 'worker', 'index.ts'),
    join(folder, 'worker.js'),
    {
      minify: true,
    },
  );
  await placeExporter(join(ROOT, 'worker', 'index.ts'), join(folder, EXPORTER));
  const page = await buildPage(ROOT, join(folder, PAGE_FOLDER));
  const config = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8');
  writeFileSync(join(folder, 'wrangler.toml'), packageConfig(config));
  copyFileSync(join(ROOT, 'build', 'worker.d.ts'), join(folder, 'worker.d.ts'));
  return [...inputs.map((file) => relative(ROOT, file)), ...page.inputs];
}
