// Keeps what is built from this clone's sources in `.build/<name>/<key>/`, until the sources change. This file is plain
// JavaScript, because the launcher needs it before any types are stripped.
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
import { join } from 'node:path';

/** Other files that change what is built. */
const SOURCE_FILES = [
  ...['package.json', 'package-lock.json', 'node_modules/.package-lock.json'],
  'tsconfig.base.json',
];
/** A build that was used this recently stays: another process may be about to use it. */
const KEPT_MS = 60 * 60 * 1000;

/** Numbers the builds that this process has open. */
let opened = 0;

export async function openBuild(root, { name, folders, files = [], product, build }) {
  const cache = join(root, '.build', name);
  const dir = join(cache, keyOf(root, folders, files));
  if (!existsSync(join(dir, product))) {
    await buildOnce(cache, dir, { product, build });
    removeUnused(cache, dir);
  }
  opened += 1;
  const mark = join(dir, `${process.pid}.${opened}.pid`);
  writeFileSync(mark, '');
  return { dir, close: () => rmSync(mark, { force: true }) };
}

/** Changes with each change of a source: only the system sets a file's ctime. */
function keyOf(root, folders, files) {
  const hash = createHash('sha256');
  const add = (path) => {
    const stats = statSync(join(root, path), { bigint: true, throwIfNoEntry: false });
    if (stats)
      hash.update(`${path} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`);
  };
  for (const folder of folders) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (/\.(?:m?[jt]s|json)$/.test(name)) add(join(folder, name));
    }
  }
  for (const file of [...SOURCE_FILES, ...files]) add(file);
  return hash.digest('hex').slice(0, 32);
}

/** If two processes build at once, the first one wins; both build the same. */
async function buildOnce(cache, dir, { product, build }) {
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'new-'));
  try {
    await build(outdir);
    renameSync(outdir, dir);
  } catch (error) {
    rmSync(outdir, { recursive: true, force: true });
    if (!existsSync(join(dir, product))) throw error;
  }
}

/** Removes builds of older sources that no process uses. */
function removeUnused(cache, dir) {
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (other !== dir && !isUsed(other)) rmSync(other, { recursive: true, force: true });
  }
}

/** If another program has a process id now, the build stays longer: that is harmless. */
function isUsed(dir) {
  const stats = statSync(dir, { throwIfNoEntry: false });
  if (!stats) return true; // Another process has just removed or renamed it.
  if (Date.now() - stats.mtimeMs < KEPT_MS) return true;
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
