// Keeps what is built from some files in `<cache>/<key>/`, until the files change. This file is plain JavaScript,
// because the launcher needs it before any types are stripped.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** In a build that stays although no process uses it. */
export const KEPT_MARK = 'kept';
/** A build that was used this recently stays: another process may be about to use it. */
const KEPT_MS = 60 * 60 * 1000;

/** Numbers the builds that this process has open. */
let opened = 0;

export async function openBuild({ cache, key, product, build, isUsed = hasProcess }) {
  const dir = join(cache, key);
  if (!existsSync(join(dir, product))) {
    await buildOnce(cache, dir, { product, build });
    removeUnused(cache, dir, isUsed);
  }
  return { dir, close: markUse(dir) };
}

/** Keeps a build until the returned function is called. */
export function markUse(dir) {
  opened += 1;
  const mark = join(dir, `${process.pid}.${opened}.pid`);
  writeFileSync(mark, '');
  return () => rmSync(mark, { force: true });
}

/** These files, and the files below these folders whose names match; in the order of their names. */
export function filesBelow(paths, names = /./) {
  return paths.flatMap((path) => {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
    const found = readdirSync(path, { recursive: true }).sort();
    return found.filter((name) => names.test(name)).map((name) => join(path, name));
  });
}

/** Changes with each change of a file: only the system sets a file's ctime. */
export function keyOf(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (stats)
      hash.update(`${file} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`);
  }
  return hash.digest('hex').slice(0, 32);
}

/** If two processes build at once, the first one wins; both build the same. */
async function buildOnce(cache, dir, { product, build }) {
  const outdir = mkdtempSync(join(cache, 'new-'));
  try {
    await build(outdir);
    renameSync(outdir, dir);
  } catch (error) {
    rmSync(outdir, { recursive: true, force: true });
    if (!existsSync(join(dir, product))) throw error;
  }
}

/** Removes builds of older files that no process uses. */
function removeUnused(cache, dir, isUsed) {
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (other !== dir && !isRecent(other) && !isUsed(other)) {
      rmSync(other, { recursive: true, force: true });
    }
  }
}

function isRecent(dir) {
  const stats = statSync(dir, { throwIfNoEntry: false });
  return !stats || Date.now() - stats.mtimeMs < KEPT_MS; // Another process may have just removed or renamed it.
}

/** If another program has a process id now, the build stays longer: that is harmless. */
function hasProcess(dir) {
  const names = readdirSync(dir);
  if (names.includes(KEPT_MARK)) return true;
  const pids = names.filter((name) => name.endsWith('.pid'));
  return pids.some((name) => isAlive(Number.parseInt(name, 10)));
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
