/** Finds the system's programs that a sandbox is made with. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/** Where systems install them. Not PATH: its folders may be inside the workspace, where a command could plant its own. */
const FOLDERS = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
] as const;

/** Its absolute path, or undefined where it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const file = join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here, or not for us: look in the next folder.
    }
  }
  return undefined;
}
