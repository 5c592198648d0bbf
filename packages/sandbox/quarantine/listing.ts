/** Lists the protected things of a workspace, with the same scan that the sandbox makes its mounts from. */
import { lstatSync } from 'node:fs';
import { posix } from 'node:path';
import { type BytePath, fromText, toBytes } from '../../../machine/byte-path.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import {
  type ClosedEntry,
  FOLDER_LIMITS,
  identityOf,
  looksLikeRepository,
  type ProtectedLink,
  protectedLinks,
  REPOSITORY_SETTINGS,
  WorkspaceScan,
} from '../../workspace/index.ts';
import { goesAway } from './away.ts';
import { HeldFolder, QuarantineError } from './held-folder.ts';
import { MANIFESTS } from './install-scripts.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

export interface ProtectedThing {
  /** Absolute and real. */
  readonly path: BytePath;
  /** Stays the same for the same file or folder, wherever it is moved. */
  readonly identity: string;
  /** Set for a folder that its mode closes. It may hold anything, and it is another thing after each change. */
  readonly isUnreadable?: true;
  /** Set for a closed folder that is too deep or too full to be searched: see {@link unsearched}. */
  readonly isUnsearched?: true;
  /** Set for a link, together with the place that it leads to. */
  readonly isLed?: true;
  /** Set for a folder that git's settings name for hooks. The folder may be the person's, so it never moves. */
  readonly isHooks?: true;
}

/** What one look at a workspace finds. */
export interface WorkspaceListing {
  readonly things: readonly ProtectedThing[];
  /** The files that an install of packages obeys. */
  readonly manifests: readonly BytePath[];
}

export type ListProtected = () => Promise<WorkspaceListing>;

/** The only file of this folder that uses the scan. The scan skips closed folders, so this searches them for {@link goesAway}. */
export function protectedIn(workspace: string): ListProtected {
  const root = fromText(workspace);
  const scan = new WorkspaceScan(root, { wanted: MANIFESTS });
  return async () => {
    const look = await scan.look(FOLDER_LIMITS.firstScanMs);
    const { entries, isCut } = look;
    // A partial list is useless: a missing thing would later count as made by a command, or would never be found.
    if (isCut) throw new QuarantineError('the workspace is too large to be searched');
    const folders = entries.filter(
      ({ path, kind }) => kind === 'folder' && posix.basename(path) !== '.git',
    );
    const nested = await Promise.all(folders.map(hiddenIn));
    const plain = entries.filter(({ closure, isObeyed }) => closure === 'protected' || isObeyed);
    const unreadable = entries.filter((entry) => entry.isUnreadable);
    const things = [
      ...plain.map(({ path, identity }) => ({ path, identity })),
      ...protectedLinks(look, root).flatMap(toLed),
      ...nested.flat(),
      ...unreadable.flatMap(({ path }) => toUnreadable(path)),
    ];
    return { things, manifests: look.wanted };
  };
}

/** None for a link that leads to nothing. A command can put another place there by moving a folder above it. */
function toLed({ path, place, isHooks }: ProtectedLink): ProtectedThing[] {
  const [link, led] = [path, place].map((each) =>
    lstatSync(toBytes(each), { throwIfNoEntry: false }),
  );
  if (link === undefined || led === undefined) return [];
  const identity = `${identityOf(link)} to ${identityOf(led)}`;
  return [{ path, identity, isLed: true, ...(isHooks && { isHooks }) }];
}

/** None for a folder that is closed for another reason than its mode. */
function toUnreadable(path: BytePath): ProtectedThing[] {
  try {
    const stats = lstatSync(toBytes(path));
    const { mode, ctimeMs } = stats;
    if ((mode & READ_AND_ENTER) === READ_AND_ENTER) return [];
    return [{ path, identity: `${identityOf(stats)} ${mode} ${ctimeMs}`, isUnreadable: true }];
  } catch (error) {
    if (isSystemError(error, ...PASSING)) return []; // A folder above it is closed, and comes first.
    throw error;
  }
}

const READ_AND_ENTER = 0o500;

/** What goes away below a folder, and the folder itself where it is too deep or too full to be searched. */
async function hiddenIn({ path, identity }: ClosedEntry): Promise<readonly ProtectedThing[]> {
  const found: ProtectedThing[] = [];
  try {
    await using folder = await HeldFolder.open(path);
    if (await search(folder, found, 0)) return found;
    return [{ path, identity: unsearched(identity), isUnsearched: true }, ...found];
  } catch (error) {
    // A folder that a running command has replaced is searched by the look at the command's end.
    if (error instanceof QuarantineError) return found;
    if (isSystemError(error, ...PASSING)) return toUnreadable(path);
    throw error;
  }
}

const PASSING = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'] as const;

/** Differs from the folder's own: it may be known already when it becomes too deep or too full. */
export function unsearched(identity: string): string {
  return `${identity} unsearched`;
}

/** False where the limits do not allow a complete search. */
async function search(
  folder: HeldFolder,
  found: ProtectedThing[],
  depth: number,
): Promise<boolean> {
  const entries = await folder.list().catch((error: unknown) => {
    if (error instanceof QuarantineError) return undefined;
    throw error;
  });
  if (entries === undefined || depth > QUARANTINE_LIMITS.maxDepth) return false;
  const isRepository = looksLikeRepository(new Set(entries.map(({ name }) => name)));
  let isComplete = true;
  for (const { name, kind } of entries) {
    const path = posix.join(folder.path, name);
    const isSetting = isRepository && REPOSITORY_SETTINGS.has(name);
    const isAway = isSetting || goesAway(posix.basename(folder.path), name, kind === 'link');
    const isReachable = path.length <= FOLDER_LIMITS.maxPathBytes;
    try {
      if (isAway && !isReachable) isComplete = false;
      else if (isAway) found.push({ path, identity: identityOf(await folder.stat(name)) });
      if (kind !== 'folder' || name === '.git') continue;
      await using inner = await folder.openFolder(name);
      isComplete = (await search(inner, found, depth + 1)) && isComplete;
    } catch (error) {
      if (!isSystemError(error, ...PASSING)) throw error;
      if (isReachable) found.push(...[folder.path, path].flatMap(toUnreadable));
      else isComplete = false;
    }
  }
  return isComplete;
}
