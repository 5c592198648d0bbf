// Says how the program becomes one bundle. Without the bundle, Node strips the types of some 200 files at each start,
// which takes three times as long. This file is plain JavaScript, because it runs before any types are stripped.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The options with which esbuild makes the program. The package has the same bundle (build/build.ts). */
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
    // jsonc-parser's other form cannot be bundled.
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    // These packages look for their own programs beside their files.
    external: ['esbuild', 'workerd', '@vscode/ripgrep'],
    // CommonJS packages load Node's modules with `require`.
    banner: {
      js: "import { createRequire as newRequire } from 'node:module';\nconst require = newRequire(import.meta.url);",
    },
  };
}
