/** Finds the folder of this program, a clone of the repository or the installed package, and its version. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** The folder that holds `bin/drawbridge.mjs`. This module may be a source in it or part of a bundle in it. */
export const OWN_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

const MANIFEST = z
  .object({ version: z.string(), private: z.boolean().default(false) })
  .parse(JSON.parse(readFileSync(join(OWN_ROOT, 'package.json'), 'utf8')));

/** The version of this program, from its `package.json`. */
export const OWN_VERSION = MANIFEST.version;

/** Whether npm's registry has this package. Where it has not, the same name there may be another program's. */
export const IS_PUBLISHED = !MANIFEST.private;

/** Whether the sources are there. The installed package has what `npm run build` has made of them in `dist/`. */
export const IS_CLONE = existsSync(join(OWN_ROOT, 'cli', 'main.ts'));

function findRoot(dir: string): string {
  const above = dirname(dir);
  if (above === dir || existsSync(join(dir, 'bin', 'drawbridge.mjs'))) return dir;
  return findRoot(above);
}
