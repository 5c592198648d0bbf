/** What is closed in a workspace and can be in the objects of a repository. */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BytePath, fromText, toBytes, toText } from '../../machine/byte-path.ts';
import { matchesWildcard } from '../../shared/text/wildcard.ts';
import { namedFolder, readIndex } from './closed/git-index.ts';
import { EXAMPLE_SECRETS } from './closed/protected.ts';
import { SECRET_IGNORE_FILES } from './ignored/chain.ts';
import type { Workspace } from './workspace.ts';

/** What is closed where a command runs. All paths and folders are absolute. */
export interface ClosedToGit {
  /** Where the command begins. */
  readonly folder: string;
  readonly root: string;
  /** Whether a path names a closed file or folder. It need not exist. */
  readonly hides: (path: string) => boolean;
  /** Whether a pattern of git for paths below a folder can match the name of a secret. It need not exist. */
  readonly hidesSome: (folder: string, pattern: string) => boolean;
  /**
   * Whether anything is closed that can be committed: a `.cursorignore` of the workspace's own folder or of one above
   * it closes something, or a repository around one of the folders tracks a closed file.
   */
  readonly closesIn: (folders: Iterable<string>) => boolean;
  /** Where a link leads; the path itself where there is none. */
  readonly realOf: (path: string) => string;
}

/** For a command that begins in this folder. */
export function closedToGit(workspace: Workspace, folder: string): ClosedToGit {
  const hides = (path: string) => workspace.hides(path);
  return {
    folder,
    root: workspace.root,
    hides,
    hidesSome: (from, pattern) => namesSecret(pattern, (name) => hides(join(from, name))),
    closesIn: (folders) =>
      workspace.hasIgnoreRules() ||
      [...repositoriesAround(folders)].some((repository) => tracksClosed(workspace, repository)),
    realOf,
  };
}

/** Whether the pattern can match one of the names that are secrets: at its own place, or in a folder below. */
function namesSecret(pattern: string, hides: (name: string) => boolean): boolean {
  const plain = pattern
    .replace(/\\(.)/g, '$1')
    .replace(/\[[^\]]*\]?/g, '?')
    .replaceAll('**/', '*')
    .replace(/\/+$/, '');
  const start = plain.slice(0, plain.search(/[*?]|$/));
  const around = start.slice(0, start.lastIndexOf('/') + 1);
  const names = EXAMPLE_SECRETS.flatMap((name) => [around + name, `${around}x/${name}`]);
  const isMatch = (name: string) =>
    matchesWildcard(plain.toLowerCase(), name.toLowerCase()) ||
    matchesWildcard(`${plain.toLowerCase()}/*`, name.toLowerCase());
  return names.some((name) => isMatch(name) && hides(name));
}

/** The folders with a `.git`, the nearest around each. */
function repositoriesAround(folders: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const looked = new Set<string>();
  for (const folder of folders) {
    for (let at = folder; !looked.has(at) && at !== '/'; at = dirname(at)) {
      looked.add(at);
      if (lstatIfAny(join(at, '.git')) === undefined) continue;
      found.add(at);
      break;
    }
  }
  return found;
}

function tracksClosed(workspace: Workspace, repository: string): boolean {
  const own = fromText(join(repository, '.git'));
  const isFolder = lstatIfAny(join(repository, '.git'))?.isDirectory();
  const folder = isFolder ? own : namedFolder(own);
  if (folder === undefined) return false;
  const index = `${folder}/index`;
  const { folders, hasSecret } = trackedIn(workspace, repository, index);
  if (hasSecret) return true;
  const ruled = folders.filter((each) => hasIgnoreFile(`${repository}/${each}`));
  const isBelow = (name: string) => ruled.some((each) => name.startsWith(`${each}/`));
  const isClosed = (name: string) => isBelow(name) && workspace.hides(`${repository}/${name}`);
  return ruled.length > 0 && readIndex(index, (name) => isClosed(toText(name))).length > 0;
}

/** What a repository tracks. */
interface TrackedFolders {
  readonly stamp: string;
  readonly folders: readonly string[];
  /** Whether one is a secret by its names. */
  readonly hasSecret: boolean;
}

/** Of the index that was read last: to judge 100,000 names takes 0.3 s. */
const known = new WeakMap<
  Workspace,
  { readonly index: BytePath; readonly tracked: TrackedFolders }
>();

function trackedIn(workspace: Workspace, repository: string, index: BytePath): TrackedFolders {
  const stats = lstatIfAny(toBytes(index));
  const stamp = stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : '';
  const before = known.get(workspace);
  if (before?.index === index && before.tracked.stamp === stamp) return before.tracked;
  const names = readIndex(index, () => true).map(({ name }) => toText(name));
  const hasSecret = names.some((name) => workspace.isSecretName(`${repository}/${name}`));
  const tracked = { stamp, folders: [...foldersOf(names)], hasSecret };
  known.set(workspace, { index, tracked });
  return tracked;
}

/** All folders that names lead through, from below the top on. Names of one folder follow each other. */
function foldersOf(names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  let last = '';
  for (const name of names) {
    const folder = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (folder === last) continue;
    last = folder;
    for (let at = folder; at !== '' && !found.has(at); ) {
      found.add(at);
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    }
  }
  return found;
}

function hasIgnoreFile(folder: string): boolean {
  return SECRET_IGNORE_FILES.some((name) => lstatIfAny(`${folder}/${name}`) !== undefined);
}

function lstatIfAny(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // The words of a line need not be a path that the system takes.
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // There is none, or it lies behind a folder that we may not enter.
  }
}
