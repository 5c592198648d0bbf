/** Finds the programs that the bridge runs outside the sandbox: git, and those that make a sandbox. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { words } from './words.ts';

/**
 * Folders where systems and package managers install them. PATH is not used: its folders may be in a workspace, where a
 * command can write. It may be another bridge's workspace: all bridges of a server have the PATH of one terminal.
 */
export const PROGRAM_FOLDERS = words(`
  /usr/bin /bin /usr/sbin /usr/local/bin /run/current-system/sw/bin
  /nix/var/nix/profiles/default/bin /opt/homebrew/bin /opt/local/bin /home/linuxbrew/.linuxbrew/bin
`);

/** The same folders as a PATH, for a program that starts others. */
export const SYSTEM_PATH: string = PROGRAM_FOLDERS.join(':');

/** The program's absolute path, or undefined where it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of PROGRAM_FOLDERS) {
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
