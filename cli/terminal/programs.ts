/** Finds programs that help the person, where the agent cannot have put them. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';

/** The folders of `PATH` that are not in `workspaceDir`: the agent can write there. */
export function foldersOutside(workspaceDir: string): readonly string[] {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isIn(workspaceDir, folder));
}

/** The path of the program in the first of the folders that has it. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isIn(workspaceDir: string, folder: string): boolean {
  try {
    return `${realpathSync(folder)}${sep}`.startsWith(join(realpathSync(workspaceDir), sep));
  } catch {
    return true; // There is no such folder.
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
