/** Stores on disk what was protected before a command began: after a kill, the next bridge needs to know it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { makePrivateFolder, replaceFile } from '../../../machine/private-files.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { parseJson } from '../../../shared/text/json.ts';
import { quarantineFolder } from './store.ts';

const KnownFile = z.object({
  version: z.literal(1),
  /** Whether a bridge has started commands and has not recorded since that all of them stopped. */
  open: z.boolean(),
  /** Names by identity (sandbox/scan.ts). The names are for people who read the file. */
  entries: z.record(z.string(), z.string()),
  /** Names with a dot at the top of the workspace that are the person's, or were reported. Older bridges wrote none. */
  dotNames: z.array(z.string()).optional(),
});
export type VouchedFile = z.infer<typeof KnownFile>;

/** Undefined before the first command ever. */
export function readKnown(stateDir: string): VouchedFile | undefined {
  const path = pathIn(stateDir);
  try {
    return KnownFile.parse(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) return undefined;
    // A guess would confuse the person's own repositories with those that a command made.
    throw new DrawbridgeError(
      'NOT_CONFIGURED',
      `${path} is damaged. Look in the workspace for repositories (.git) that you do not know, then remove this file.`,
      { cause },
    );
  }
}

/** When it returns, the file survives a loss of power. */
export function writeKnown(stateDir: string, known: VouchedFile): void {
  makePrivateFolder(quarantineFolder(stateDir));
  replaceFile(pathIn(stateDir), JSON.stringify(known));
}

function pathIn(stateDir: string): string {
  return join(quarantineFolder(stateDir), 'known.json');
}
