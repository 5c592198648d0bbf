/** Keeps the bridge out of a workspace in which the agent could change what the bridge itself runs. */
import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { LocalError } from '../machine/local-error.ts';
import { isBelow } from './sandbox/byte-path.ts';
import { PROGRAM_FOLDERS } from './sandbox/programs.ts';

/**
 * Commands write to the workspace, and so do file tools. The bridge runs outside the sandbox whatever lies at the place
 * of its own modules and programs. `root` is a real path; `others` are programs that are started again from their files.
 * @throws {LocalError} if one of them lies in the workspace.
 */
export async function requireForeignFiles(root: string, others: readonly string[]): Promise<void> {
  const files = [fileURLToPath(import.meta.url), rgPath, ...others, ...PROGRAM_FOLDERS];
  for (const file of files) {
    const real = await realpath(file).catch(() => file);
    if (real !== root && !isBelow(root, real)) continue;
    throw new LocalError(
      'refused',
      `Drawbridge runs ${real} in the workspace ${root}, where the agent could change it: open another folder, or ` +
        'install Drawbridge outside of this one. If no copy of it could be made, set DRAWBRIDGE_PROGRAMS to a folder ' +
        'outside that only you may write to.',
    );
  }
}
