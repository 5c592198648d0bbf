/** Where this very project is. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds `bin/drawbridge.mjs`; this module may lie in it as a source or in a bundle. */
export const OWN_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(dir: string): string {
  const above = dirname(dir);
  if (above === dir || existsSync(join(dir, 'bin', 'drawbridge.mjs'))) return dir;
  return findRoot(above);
}
