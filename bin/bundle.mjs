// Builds the program as one bundle in `.build/cli/`, again after each change of a source. Without the bundle, Node
// strips the types of some 200 files at each start, which takes three times as long. This file is plain JavaScript,
// because it runs before any types are stripped.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SOURCE_FOLDERS = ['bin', 'bridge', 'cli', 'client', 'local', 'machine', 'shared'];
/** Other files that change the bundle. */
const SOURCE_FILES = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
/** A bundle that was used this recently stays: another process may be about to load it. */
const KEPT_MS = 60 * 60 * 1000;

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
  const cache = join(root, '.build', 'cli');
  const dir = join(cache, keyOf(root));
  if (!existsSync(join(dir, 'main.js'))) {
    await build(root, cache, dir);
    removeUnused(cache, dir);
  }
  // The mark keeps other processes from removing the bundle: this process may still load a part of it.
  const mark = join(dir, `${process.pid}.pid`);
  writeFileSync(mark, '');
  // Keeps V8's compiled code too.
  module.enableCompileCache(join(dir, 'compiled'));
  process.once('exit', () => rmSync(mark, { force: true }));
  return join(dir, 'main.js');
}

/** Changes with each change of a source: only the system sets a file's ctime. */
function keyOf(root) {
  const hash = createHash('sha256');
  const add = (path) => {
    const stats = statSync(join(root, path), { bigint: true, throwIfNoEntry: false });
    if (stats)
      hash.update(`${path} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`);
  };
  for (const folder of SOURCE_FOLDERS) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (/\.m?[jt]s$/.test(name)) add(join(folder, name));
    }
  }
  for (const file of SOURCE_FILES) add(file);
  return hash.digest('hex').slice(0, 32);
}

/** If two processes build at once, the first one wins; both build the same. */
async function build(root, cache, dir) {
  const { buildSync } = await import('esbuild');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'new-'));
  try {
    buildSync(describeBundle(root, outdir));
    writeFileSync(join(outdir, 'package.json'), '{"type": "module"}');
    renameSync(outdir, dir);
  } catch (error) {
    rmSync(outdir, { recursive: true, force: true });
    if (!existsSync(join(dir, 'main.js'))) throw error;
  }
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

/** Removes bundles of older sources that no process uses. */
function removeUnused(cache, dir) {
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (other !== dir && !isUsed(other)) rmSync(other, { recursive: true, force: true });
  }
}

/** If another program has a process id now, the bundle stays longer: that is harmless. */
function isUsed(dir) {
  if (Date.now() - statSync(dir).mtimeMs < KEPT_MS) return true;
  const pids = readdirSync(dir).filter((name) => name.endsWith('.pid'));
  return pids.some((name) => isAlive(Number.parseInt(name, 10)));
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
