// The program as one bundle, kept in `.build/cli/` and made anew when a source has changed. Node strips the types of some 200
// files with each start otherwise, which takes three times as long. Plain JavaScript, since it runs before any types are
// stripped.
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
/** What else decides what the bundle holds. */
const SOURCE_FILES = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
/** Other starts may be about to load a bundle that was used so lately. */
const KEPT_MS = 60 * 60 * 1000;

/**
 * The address of the program's module: of its bundle, or of `cli/main.ts` where none can be made, such as in a folder that
 * cannot be written to, or from sources that do not compile. Node then says what is wrong with them.
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
  // A bundle is not removed under a process that may yet load a part of it.
  const mark = join(dir, `${process.pid}.pid`);
  writeFileSync(mark, '');
  // What V8 has compiled of it is kept too.
  module.enableCompileCache(join(dir, 'compiled'));
  process.once('exit', () => rmSync(mark, { force: true }));
  return join(dir, 'main.js');
}

/** Changes with each change of a source: its time of change is set by the system alone. */
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

/** Of two that build at once the first one wins; both have built the same. */
async function build(root, cache, dir) {
  const { buildSync } = await import('esbuild');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'new-'));
  const worker = join(root, 'bridge', 'compute', 'worker.ts');
  try {
    buildSync({
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
      // They bring programs of their own, which they look for beside themselves.
      external: ['esbuild', 'workerd', '@vscode/ripgrep'],
      // CommonJS packages ask for Node's modules by it.
      banner: {
        js: "import { createRequire as newRequire } from 'node:module';\nconst require = newRequire(import.meta.url);",
      },
    });
    writeFileSync(join(outdir, 'package.json'), '{"type": "module"}');
    renameSync(outdir, dir);
  } catch (error) {
    rmSync(outdir, { recursive: true, force: true });
    if (!existsSync(join(dir, 'main.js'))) throw error;
  }
}

/** Bundles of older sources that no process uses. */
function removeUnused(cache, dir) {
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (other !== dir && !isUsed(other)) rmSync(other, { recursive: true, force: true });
  }
}

/** A process id that belongs to another program by now keeps a bundle for longer: that harms nothing. */
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
