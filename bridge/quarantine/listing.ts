/** Lists the protected things of a workspace, with the same scan that the sandbox makes its mounts from. */
import { lstatSync } from 'node:fs';
import { posix } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { type BytePath, fromText, toBytes } from '../sandbox/byte-path.ts';
import { SANDBOX_LIMITS } from '../sandbox/limits.ts';
import { type ClosedEntry, identityOf, WorkspaceScan } from '../sandbox/scan.ts';
import { HeldFolder, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

export interface ProtectedThing {
  /** Absolute and real. */
  readonly path: BytePath;
  /** Stays the same for the same file or folder, wherever it is moved. */
  readonly identity: string;
  /** Set for a folder that its mode closes. It may hold anything, and it is another thing after each change. */
  readonly isUnreadable?: true;
}

export type ListProtected = () => Promise<readonly ProtectedThing[]>;

/** The only file of this folder that uses the scan. The scan skips closed folders, so this searches them for `.git`. */
export function protectedIn(workspace: string): ListProtected {
  const scan = new WorkspaceScan(fromText(workspace));
  return async () => {
    const { entries, isCut } = await scan.look(SANDBOX_LIMITS.firstScanMs);
    // A partial list is useless: a missing thing would later count as made by a command, or would never be found.
    if (isCut) throw new QuarantineError('the workspace is too large to be searched');
    const folders = entries.filter(
      ({ path, kind }) => kind === 'folder' && posix.basename(path) !== '.git',
    );
    const nested = await Promise.all(folders.map(({ path }) => repositoriesIn(path)));
    const things = entries.filter(({ closure }) => closure === 'protected');
    const unreadable = entries.filter((entry) => entry.isUnreadable).flatMap(toUnreadable);
    const plain = things.map(({ path, identity }) => ({ path, identity }));
    return [...plain, ...nested.flat(), ...unreadable];
  };
}

/** None for a folder that is closed for another reason than its mode. */
function toUnreadable({ path, identity }: ClosedEntry): ProtectedThing[] {
  const { mode, ctimeMs } = lstatSync(toBytes(path), { throwIfNoEntry: false }) ?? {};
  if (mode === undefined || (mode & READ_AND_ENTER) === READ_AND_ENTER) return [];
  return [{ path, identity: `${identity} ${mode} ${ctimeMs}`, isUnreadable: true }];
}

const READ_AND_ENTER = 0o500;

/** Every `.git` below a folder. None when it cannot be searched, because then no program can use one either. */
async function repositoriesIn(path: BytePath): Promise<readonly ProtectedThing[]> {
  const found: ProtectedThing[] = [];
  try {
    await using folder = await HeldFolder.open(path);
    await search(folder, found, 0);
  } catch (error) {
    const isGone = isSystemError(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM');
    if (!isGone && !(error instanceof QuarantineError)) throw error;
  }
  return found;
}

async function search(folder: HeldFolder, found: ProtectedThing[], depth: number): Promise<void> {
  for (const { name, kind } of await folder.list()) {
    const path = posix.join(folder.path, name);
    if (name === '.git') {
      found.push({ path, identity: identityOf(await folder.stat(name)) });
    } else if (kind === 'folder' && depth < QUARANTINE_LIMITS.maxDepth) {
      await using inner = await folder.openFolder(name);
      await search(inner, found, depth + 1);
    }
  }
}
