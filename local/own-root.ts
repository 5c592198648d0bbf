/** Finds the folder of this program: a clone of the repository, the installed package, or a copy of either. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** The folder that holds `bin/drawbridge.mjs`. This module may be a source in it or part of a bundle in it. */
export const OWN_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The folder that a person has put on the machine: {@link OWN_ROOT}, or what it is a copy of (bin/own-copy.mjs). */
export const INSTALLED_ROOT = readOrigin() ?? OWN_ROOT;

/** Whether the program runs from a copy, which is made like the package: with bundles instead of sources. */
export const IS_COPY = INSTALLED_ROOT !== OWN_ROOT;

const MANIFEST = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(OWN_ROOT, 'package.json'), 'utf8')));

/** The version of this program, from its `package.json`. */
export const OWN_VERSION = MANIFEST.version;

/** Whether the sources are there. The installed package has what `npm run build` has made of them in `dist/`. */
export const IS_CLONE = existsSync(join(INSTALLED_ROOT, 'cli', 'main.ts'));

/** The Node for new processes: the copy has one if this process's own lies where a copy is needed. */
export const OWN_NODE = findNode();

function findRoot(dir: string): string {
  const above = dirname(dir);
  if (above === dir || existsSync(join(dir, 'bin', 'drawbridge.mjs'))) return dir;
  return findRoot(above);
}

function readOrigin(): string | undefined {
  const file = join(OWN_ROOT, 'copy-of');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function findNode(): string {
  const node = join(OWN_ROOT, 'node_modules', 'node', 'bin', basename(process.execPath));
  return IS_COPY && existsSync(node) ? realpathSync(node) : process.execPath;
}
