/**
 * Follows names that stand for another place in the workspace: a link to a `.git` or to a secret, a `.git` file of a
 * submodule, and git's setting for the folder of hooks.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { posix } from 'node:path';
import { type BytePath, fromText, isBelow, toBytes, toText } from '../../../machine/byte-path.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { FOLDER_LIMITS } from '../limits.ts';
import { linkedGitFolders } from './git-folders.ts';
import { namedFolder, readText } from './git-index.ts';
import { type Closure, closureOf, isExample, isObeyedPath } from './protected.ts';
import { type ClosedEntries, type ClosedEntry, identityOf } from './scan.ts';

/** A link to another place in the workspace, which programs obey by the link's name. */
export interface ProtectedLink {
  readonly path: BytePath;
  /** Set for a folder that git's settings name for hooks. Then `path` is the folder itself. */
  readonly isHooks?: true;
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
  const isProtected = entries.filter(
    ({ closure, isObeyed }) => closure === 'protected' || isObeyed,
  );
  const repositories = isProtected.filter(({ path }) => path.endsWith('/.git'));
  const nameOf = (path: BytePath) => path.slice(workspace.length + 1);
  const first = [
    ...isProtected.filter(({ kind }) => kind === 'link').map(({ path }) => path),
    ...links,
    ...repositories
      .filter(({ kind }) => kind === 'folder')
      .flatMap(({ path }) => [path, `${path}/hooks`].flatMap(linksIn)),
  ];
  const hooks = repositories.flatMap((entry) =>
    hookFolders(entry).map((path) => ({
      path,
      name: `${nameOf(entry.path)}/hooks`,
      isHooks: true as const,
    })),
  );
  const named = [...first.map((path) => ({ path, name: nameOf(path) })), ...hooks];
  return follow(named, workspace, 'protected');
}

function follow(
  named: readonly Omit<ProtectedLink, 'place'>[],
  workspace: BytePath,
  closure: Closure,
): ProtectedLink[] {
  const waiting: Omit<ProtectedLink, 'place'>[] = [...named];
  const seen = new Set<BytePath>();
  const found: ProtectedLink[] = [];
  for (const link of waiting) {
    const { path, name } = link;
    if (seen.has(path) || found.length === FOLDER_LIMITS.maxProtectedLinks) continue;
    seen.add(path);
    const place = placeOf(path);
    if (place === undefined || !isBelow(workspace, place) || isBelow(place, path)) continue;
    found.push({ ...link, place });
    for (const inner of linksBelow(place)) {
      const innerName = `${name}${inner.slice(place.length)}`;
      const isOfKind =
        closure === 'secret'
          ? closureOf(toText(innerName)) === closure
          : isObeyedPath(toText(innerName));
      if (isOfKind) waiting.push({ path: inner, name: innerName });
    }
  }
  return found;
}

/**
 * What a look has found, with the places inside the workspace that links and `.git` files lead to. The places are closed
 * as the names are that lead there. Only the first look uses this: by a later link, a command could close any folder of
 * the workspace.
 */
export async function withLinkedPlaces(
  found: FoundLinks,
  workspace: BytePath,
): Promise<readonly ClosedEntry[]> {
  const gitFiles = found.entries.filter(
    ({ path, kind }) => kind === 'file' && path.endsWith('/.git'),
  );
  const folders = await Promise.all(gitFiles.map(({ path }) => linkedGitFolders(toText(path))));
  const obeyed = [
    ...protectedLinks(found, workspace).map(({ place }) => place),
    ...folders.flatMap((linked) => linked.folders.map(fromText)),
  ].filter((place) => isBelow(workspace, place));
  const secrets = found.entries.filter(
    ({ closure, kind, by }) => closure === 'secret' && kind === 'link' && by === undefined,
  );
  const named = secrets.map(({ path }) => ({ path, name: path.slice(workspace.length + 1) }));
  const led = follow(named, workspace, 'secret').map(({ place }) => place);
  const entries = [
    ...obeyed.flatMap((path) => toEntry(path, { closure: 'protected' })),
    ...found.entries,
  ];
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  for (const path of led) {
    if (isExample(toText(path)) || byPath.get(path)?.closure === 'secret') continue;
    for (const entry of toEntry(path, { closure: 'secret', isLed: true })) byPath.set(path, entry);
  }
  return [...byPath.values()];
}

function toEntry(path: BytePath, how: Pick<ClosedEntry, 'closure' | 'isLed'>): ClosedEntry[] {
  const stats = lstatSync(toBytes(path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  const kind = stats.isDirectory() ? 'folder' : 'file';
  return [{ path, ...how, kind, identity: identityOf(stats) }];
}

/** The folders that the settings of a repository name for its hooks, relative to the folder with its files. */
function hookFolders({ path, kind }: ClosedEntry): BytePath[] {
  const top = posix.dirname(path);
  return (kind === 'file' ? foldersOfFile(path) : [path])
    .flatMap((folder) => [`${folder}/config`, `${folder}/config.worktree`])
    .flatMap(
      (file) =>
        [...readText(file, FOLDER_LIMITS.maxConfigBytes).matchAll(HOOKS_PATH)].at(-1)?.[1] ?? [],
    )
    .map((value) => posix.resolve(top, value.replaceAll('"', '').trim()))
    .filter(({ length }) => length <= FOLDER_LIMITS.maxPathBytes);
}

/** Of `.git` files of worktrees and submodules: the own folder, and the one that it shares. */
function foldersOfFile(dotGit: BytePath): BytePath[] {
  const own = namedFolder(dotGit);
  if (own === undefined) return [];
  const shared = readText(`${own}/commondir`, FOLDER_LIMITS.maxPathBytes).trim();
  return [own, posix.resolve(own, shared)];
}

/**
 * By git-config(1). A section and its first setting may share a line, and the last setting counts. A command can have
 * written the text, so the match never looks beyond its line.
 */
const HOOKS_PATH = /^[\t ]*(?:\[core\][\t ]*)?hookspath[\t ]*=((?:"[^"\n\0]*"|[^"#;\n\0])*)/gim;

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
      if (++entries > FOLDER_LIMITS.maxLinkedEntries) return links;
      const path = `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) links.push(path);
      else if (entry.isDirectory()) folders.push(path);
    }
  }
  return links;
}

/** None where the folder cannot be read. */
function readEntries(folder: BytePath): Dirent[] {
  try {
    return readdirSync(toBytes(folder), { withFileTypes: true, ...LATIN1 });
  } catch (error) {
    // The folder has gone since it was listed, or we may not read it. `canBeLookedInto` closes the latter as a whole.
    if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return [];
    throw error;
  }
}
