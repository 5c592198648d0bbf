// Builds the program as one bundle in `.build/cli/`, again after each change of a source. Without the bundle, Node
// strips the types of some 200 files at each start, which takes three times as long. This file is plain JavaScript,
// because it runs before any types are stripped.
import { existsSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBuild } from './kept-build.mjs';

const SOURCE_FOLDERS = ['bin', 'bridge', 'cli', 'client', 'local', 'machine', 'shared'];

/**
 * The URL of the program's bundle. If no bundle can be built, for example in a read-only folder or from sources that do
 * not compile, it is the URL of `cli/main.ts`: Node then reports the error in the sources.
 */
export async function programUrl(root) {
  try {
    return pathToFileURL(await openBundle(root)).href;
  } catch {
    return pathToFileURL(join(root, 'cli', 'main.ts')).href;
  }
}

async function openBundle(root) {
  const { dir, close } = await openBuild(root, {
    name: 'cli',
    folders: SOURCE_FOLDERS,
    product: 'main.js',
    build: (outdir) => bundleInto(root, outdir),
  });
  // Keeps V8's compiled code too.
  module.enableCompileCache(join(dir, 'compiled'));
  // Until then this process may still load a part of it.
  process.once('exit', close);
  return join(dir, 'main.js');
}

async function bundleInto(root, outdir) {
  const { buildSync } = await import('esbuild');
  buildSync(describeBundle(root, outdir));
  writeFileSync(join(outdir, 'package.json'), '{"type": "module"}');
}

/** What esbuild is told to make the program of. The package has the same bundle (build/build.ts). */
export function describeBundle(root, outdir) {
  const worker = join(root, 'bridge', 'compute', 'worker.ts');
  return {
    absWorkingDir: root,
    entryPoints: {
      main: join(root, 'cli', 'main.ts'),
      ...(existsSync(worker) && { 'compute-worker': worker }),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    // These packages look for their own programs beside their files.
    external: ['esbuild', 'workerd', '@vscode/ripgrep'],
    // CommonJS packages load Node's modules with `require`.
    banner: {
      js: "import { createRequire as newRequire } from 'node:module';\nconst require = newRequire(import.meta.url);",
    },
  };
}
