// Says how the program becomes one bundle. Without the bundle, Node strips the types of some 200 files at each start,
// which takes three times as long. This file is plain JavaScript, because it runs before any types are stripped.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

/** The options with which esbuild makes the program. The package has the same bundle (build/build.ts). */
export function describeBundle(root, outdir) {
  const noAjv = join(root, 'bin', 'no-ajv.mjs');
  const threads = { 'compute-worker': 'bridge/compute', 'index-worker': 'packages/code-index' };
  return {
    absWorkingDir: root,
    entryPoints: {
      main: join(root, 'cli', 'main.ts'),
      ...Object.fromEntries(
        Object.entries(threads)
          .map(([name, room]) => [name, join(root, room, 'worker.ts')])
          .filter(([, path]) => existsSync(path)),
      ),
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
    external: ['esbuild', 'rolldown', 'workerd', '@vscode/ripgrep'],
    // 130 KB that would never run.
    alias: { ajv: noAjv, 'ajv-formats': noAjv },
    // CommonJS packages load Node's modules with `require`.
    banner: {
      js: "import { createRequire as newRequire } from 'node:module';\nconst require = newRequire(import.meta.url);",
    },
  };
}

const GRAMMARS = ['bash', 'c-sharp', 'cpp', 'go', 'java', 'php', 'python', 'ruby', 'rust', 'tsx'];

/** Puts the parser and its grammars beside the program, compressed. Returns the packages' files. */
export function copyGrammars(root, outdir) {
  const packages = join(root, 'node_modules');
  const runtime = join(packages, 'web-tree-sitter', 'web-tree-sitter.wasm');
  const grammars = GRAMMARS.map((name) =>
    join(packages, '@vscode', 'tree-sitter-wasm', 'wasm', `tree-sitter-${name}.wasm`),
  );
  const files = [runtime, ...grammars].filter((file) => existsSync(file));
  mkdirSync(join(outdir, 'grammars'), { recursive: true });
  // Higher qualities take many seconds for a tenth less.
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  for (const file of files) {
    const compressed = brotliCompressSync(readFileSync(file), options);
    writeFileSync(join(outdir, 'grammars', `${basename(file)}.br`), compressed);
  }
  return files;
}
