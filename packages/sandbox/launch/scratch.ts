/** A folder for the temporary files of commands that have no `/tmp` of their own. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandUser } from '../account.ts';

export interface Scratch extends Disposable {
  /** Real. */
  readonly path: string;
}

/** Commands may write to `path`, and not around it. */
export function openScratch({ uid, gid }: CommandUser): Scratch {
  const around = mkdtempSync(join(realpathSync(tmpdir()), 'drawbridge-commands-'));
  chmodSync(around, 0o711);
  const path = join(around, 'tmp');
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, uid, gid);
  return {
    path,
    [Symbol.dispose]: () => {
      try {
        // A process that still runs reaches it by this name alone, and could exchange a folder while it is removed.
        renameSync(path, join(around, 'ended'));
        rmSync(around, { recursive: true, force: true });
      } catch {
        // A cleaner of temporary files was first, or a file cannot be removed: the system removes it later.
      }
    },
  };
}
