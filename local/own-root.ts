/** Finds the folder of this project. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds `bin/drawbridge.mjs`. This module may be a source in it or part of a bundle in it. */
export const OWN_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(dir: string): string {
  const above = dirname(dir);
  if (above === dir || existsSync(join(dir, 'bin', 'drawbridge.mjs'))) return dir;
  return findRoot(above);
}
