/** Follows paths that stand for another place in the workspace: a link to a `.git`, or a `.git` file of a submodule. */
import { lstat, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { fromText, isBelow, toText } from './byte-path.ts';
import { linkedGitFolders } from './git-folders.ts';
import { type ClosedEntry, identityOf } from './scan.ts';

/**
 * The places inside the workspace that protected links and `.git` files lead to. They are protected like the entry
 * itself. Only the first look uses this: by a later link, a command could close any folder of the workspace.
 */
export async function linkedPlaces(
  entries: readonly ClosedEntry[],
  workspace: string,
): Promise<ClosedEntry[]> {
  const targets = await Promise.all(
    entries.filter(({ closure }) => closure === 'protected').map(targetsOf),
  );
  const inside = targets.flat().filter((path) => isBelow(workspace, path));
  return (await Promise.all([...new Set(inside)].map(toEntry))).flat();
}

async function targetsOf({ path, kind }: ClosedEntry): Promise<readonly string[]> {
  const name = toText(path);
  if (kind === 'link') return [await realpath(name).catch(() => '')];
  if (kind === 'file' && basename(name) === '.git') return (await linkedGitFolders(name)).folders;
  return [];
}

async function toEntry(path: string): Promise<ClosedEntry[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return [];
  const kind = stats.isDirectory() ? 'folder' : 'file';
  return [{ path: fromText(path), closure: 'protected', kind, identity: identityOf(stats) }];
}
