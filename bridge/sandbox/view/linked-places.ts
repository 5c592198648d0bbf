/** Follows paths that stand for another place in the workspace: a link to a `.git`, or a `.git` file of a submodule. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { posix } from 'node:path';
import { isSystemError } from '../../../machine/system-error.ts';
import { type BytePath, fromText, isBelow, toBytes, toText } from '../byte-path.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { linkedGitFolders } from './git-folders.ts';
import { closureOf } from './protected.ts';
import { type ClosedEntries, type ClosedEntry, identityOf, readEntries } from './scan.ts';

/** A link to another place in the workspace, which programs obey by the link's name. */
export interface ProtectedLink {
  readonly path: BytePath;
  /** Relative to the workspace. Programs find the place by this name, which may lead through further links. */
  readonly name: BytePath;
  /** Real. Parts that do not exist yet are as the link has them. */
  readonly place: BytePath;
}

type FoundLinks = Pick<ClosedEntries, 'entries' | 'links'>;

/**
 * The links that a look has found, those that git obeys, and those behind a link. A link to a folder around itself
 * counts as none.
 */
export function protectedLinks(
  { entries, links }: FoundLinks,
  workspace: BytePath,
): ProtectedLink[] {
  const isProtected = entries.filter(({ closure }) => closure === 'protected');
  const first = [
    ...isProtected.filter(({ kind }) => kind === 'link').map(({ path }) => path),
    ...links,
    ...isProtected
      .filter(({ kind, path }) => kind === 'folder' && path.endsWith('/.git'))
      .flatMap(({ path }) => [path, `${path}/hooks`].flatMap(linksIn)),
  ];
  const waiting = first.map((path) => ({ path, name: path.slice(workspace.length + 1) }));
  const seen = new Set<BytePath>();
  const found: ProtectedLink[] = [];
  for (const { path, name } of waiting) {
    if (seen.has(path) || found.length === SANDBOX_LIMITS.maxProtectedLinks) continue;
    seen.add(path);
    const place = placeOf(path);
    if (place === undefined || !isBelow(workspace, place) || isBelow(place, path)) continue;
    found.push({ path, name, place });
    for (const inner of linksBelow(place)) {
      const innerName = `${name}${inner.slice(place.length)}`;
      if (closureOf(toText(innerName)) === 'protected')
        waiting.push({ path: inner, name: innerName });
    }
  }
  return found;
}

/**
 * The places inside the workspace that protected links and `.git` files lead to. They are protected like the entry
 * itself. Only the first look uses this: by a later link, a command could close any folder of the workspace.
 */
export async function linkedPlaces(found: FoundLinks, workspace: BytePath): Promise<ClosedEntry[]> {
  const gitFiles = found.entries.filter(
    ({ path, kind }) => kind === 'file' && path.endsWith('/.git'),
  );
  const folders = await Promise.all(gitFiles.map(({ path }) => linkedGitFolders(toText(path))));
  const places = [
    ...protectedLinks(found, workspace).map(({ place }) => place),
    ...folders.flatMap((linked) => linked.folders.map(fromText)),
  ];
  return [...new Set(places)].filter((place) => isBelow(workspace, place)).flatMap(toEntry);
}

function toEntry(path: BytePath): ClosedEntry[] {
  const stats = lstatSync(toBytes(path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  const kind = stats.isDirectory() ? 'folder' : 'file';
  return [{ path, closure: 'protected', kind, identity: identityOf(stats) }];
}

/** Undefined for a link that leads in a circle, or through a folder that we may not enter. */
function placeOf(link: BytePath): BytePath | undefined {
  try {
    return realPlace(link, 0);
  } catch (error) {
    if (isSystemError(error, 'ELOOP', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG')) return undefined;
    throw error;
  }
}

function realPlace(path: BytePath, links: number): BytePath {
  try {
    return realpathSync.native(toBytes(path), LATIN1);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || links > MAX_LINKS || path === '/') throw error;
  }
  const [folder, name] = [realPlace(posix.dirname(path), links), posix.basename(path)];
  const own = posix.join(folder, name);
  const target = targetOf(own);
  return target === undefined ? own : realPlace(posix.resolve(folder, target), links + 1);
}

function targetOf(path: BytePath): BytePath | undefined {
  try {
    return readlinkSync(toBytes(path), LATIN1);
  } catch {
    return undefined; // No link, or nothing at all.
  }
}

const LATIN1 = { encoding: 'latin1' } as const;
/** As many as Linux follows. */
const MAX_LINKS = 40;

function linksIn(folder: BytePath): BytePath[] {
  const links = readEntries(folder).filter((entry) => entry.isSymbolicLink());
  return links.map(({ name }) => `${folder}/${name}`);
}

function linksBelow(place: BytePath): BytePath[] {
  const links: BytePath[] = [];
  const folders = [place];
  let entries = 0;
  for (const folder of folders) {
    for (const entry of readEntries(folder)) {
      if (++entries > SANDBOX_LIMITS.maxLinkedEntries) return links;
      const path = `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) links.push(path);
      else if (entry.isDirectory()) folders.push(path);
    }
  }
  return links;
}
