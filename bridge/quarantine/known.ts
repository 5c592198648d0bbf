/** What was protected before a command began, on disk: a bridge that is killed must know it at its next start. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { makePrivateFolder, replaceFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { parseJson } from '../../shared/json.ts';
import { quarantineFolder } from './store.ts';

const KnownFile = z.object({
  version: z.literal(1),
  /** Whether a bridge began commands and has not told since that none of them is left. */
  open: z.boolean(),
  /** Names by identity (sandbox/scan.ts). The names are for people who read the file. */
  entries: z.record(z.string(), z.string()),
});
export type KnownFile = z.infer<typeof KnownFile>;

/** Undefined before the first command ever. */
export function readKnown(stateDir: string): KnownFile | undefined {
  const path = pathIn(stateDir);
  try {
    return KnownFile.parse(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) return undefined;
    // To guess would be to take the person's own repositories for a command's, or the other way round.
    throw new DrawbridgeError(
      'NOT_CONFIGURED',
      `${path} is damaged: remove it, after you have looked for repositories (.git) in the workspace that you do not know.`,
      { cause },
    );
  }
}

/** Survives a loss of power when it returns. */
export function writeKnown(stateDir: string, known: KnownFile): void {
  makePrivateFolder(quarantineFolder(stateDir));
  replaceFile(pathIn(stateDir), JSON.stringify(known));
}

function pathIn(stateDir: string): string {
  return join(quarantineFolder(stateDir), 'known.json');
}
