/** The protected things of a workspace, from the one scan that the sandbox makes its mounts of. */
import { posix } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { type BytePath, fromText } from '../sandbox/byte-path.ts';
import { SANDBOX_LIMITS } from '../sandbox/limits.ts';
import { identityOf, WorkspaceScan } from '../sandbox/scan.ts';
import { HeldFolder, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

export interface ProtectedThing {
  /** Absolute and real. */
  readonly path: BytePath;
  /** The same as long as it is the same file or folder, wherever it is moved. */
  readonly identity: string;
}

export type ListProtected = () => Promise<readonly ProtectedThing[]>;

/** The only place of this room that knows the scan. It does not look into closed folders; a `.git` may lie there too. */
export function protectedIn(workspace: string): ListProtected {
  const scan = new WorkspaceScan(fromText(workspace));
  return async () => {
    const { entries, isCut } = await scan.look(SANDBOX_LIMITS.firstScanMs);
    // Half a list is none: what is missing in it would be taken for a command's, or not be found at all.
    if (isCut) throw new QuarantineError('the workspace is too large to be looked through');
    const folders = entries.filter(
      ({ path, kind }) => kind === 'folder' && posix.basename(path) !== '.git',
    );
    const nested = await Promise.all(folders.map(({ path }) => repositoriesIn(path)));
    const things = entries.filter(({ closure }) => closure === 'protected');
    return [...things.map(({ path, identity }) => ({ path, identity })), ...nested.flat()];
  };
}

/** Every `.git` below a folder; what cannot be looked through has none that a program could use. */
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
