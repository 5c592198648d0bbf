/** Finds the system's programs that make a sandbox. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Folders where systems install them. PATH is not used: its folders may be in the workspace, where a command can write.
 */
const FOLDERS = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
] as const;

/** The program's absolute path, or undefined where it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const file = join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // The program is not in this folder, or we may not run it.
    }
  }
  return undefined;
}
