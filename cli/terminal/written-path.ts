/** A path as a person writes it. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../../machine/home-folder.ts';

/** The absolute path. `~/` begins the home folder, as in a shell. */
export function writtenPath(written: string): string {
  if (written.startsWith('file:///') && URL.canParse(written)) return fileURLToPath(written);
  return resolve(written.replace(/^~(?=\/)/, findHome() ?? '~'));
}
