/** Decides which paths of a folder its ignore files close. */
import {
  chainAbove,
  closingIn,
  type IgnoreChain,
  type IgnoreFile,
  readIgnoreFile,
  withFiles,
} from './chain.ts';
import { IGNORED_LIMITS } from './limits.ts';

/** What is known of one folder. */
interface FolderLevel {
  /** The file that closes the folder with everything in it. */
  readonly closedBy: IgnoreFile | undefined;
  readonly files: readonly IgnoreFile[];
  /** About the folder's entries. */
  readonly chain: IgnoreChain;
  readonly readMs: number;
}

/** Reads the files as they are at that moment, so that a change of one counts at once. */
export class IgnoredPaths {
  readonly #root: string;
  readonly #names: readonly string[];
  readonly #levels = new Map<string, FolderLevel>();
  #above: IgnoreChain = [];

  /** `root` is absolute and real; `names` are those of the ignore files that count. */
  constructor(root: string, names: readonly string[]) {
    this.#root = Buffer.from(root).toString('latin1');
    this.#names = names;
  }

  /**
   * The ignore file that closes a path, which is relative to the root and has `/`; undefined for an open path. `maxAge`
   * as in IGNORED_LIMITS, for a caller that asks about many paths.
   */
  closing(
    path: string,
    { isFolder, maxAgeMs = 0 }: { isFolder: boolean; maxAgeMs?: number },
  ): IgnoreFile | undefined {
    const newerThan = performance.now() - maxAgeMs;
    if (!isFolder && this.#isPlain(path, newerThan)) return undefined;
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    if (isFolder) return this.#level(names, newerThan).closedBy;
    const { closedBy, chain } = this.#level(names.slice(0, -1), newerThan);
    return closedBy ?? closingIn(chain, names, false);
  }

  /** The ignore files of the root's own folder and of those above it. */
  filesAtTop(): readonly IgnoreFile[] {
    const { chain, closedBy } = this.#level([], performance.now());
    return [...chain.map(({ file }) => file), ...(closedBy ? [closedBy] : [])];
  }

  /** Whether no rule is about the entries of the path's folder, as is known already: so it is for most of many names. */
  #isPlain(path: string, newerThan: number): boolean {
    const level = this.#levels.get(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    return level !== undefined && level.readMs > newerThan && isOpen(level);
  }

  #level(names: readonly string[], newerThan: number): FolderLevel {
    const key = names.join('/');
    const known = this.#levels.get(key);
    if (known !== undefined && known.readMs > newerThan) return known;
    const level = this.#read(names, newerThan, known);
    if (this.#levels.size >= IGNORED_LIMITS.maxFolders) this.#levels.clear();
    this.#levels.set(key, level);
    return level;
  }

  #read(names: readonly string[], newerThan: number, known: FolderLevel | undefined): FolderLevel {
    const readMs = performance.now();
    const above = names.length > 0 ? this.#level(names.slice(0, -1), newerThan) : undefined;
    if (!above) this.#above = chainAbove(this.#root, this.#names, this.#above);
    const chain = above?.chain ?? this.#above;
    // What lies in a repository's own folder is git's, and no rule is about it.
    const isOfGit = names.includes('.git');
    const closedBy = above?.closedBy ?? (isOfGit ? undefined : closingIn(chain, names, true));
    if (closedBy !== undefined || isOfGit) return { closedBy, files: [], chain: [], readMs };
    const folder = [this.#root, ...names.map(toBytes)].join('/');
    const files = this.#names.flatMap((name) => {
      const before = known?.files.find((file) => file.name === name);
      return readIgnoreFile(folder, name, before) ?? [];
    });
    const odd = files.find(({ content }) => content.state === 'odd');
    return { closedBy: odd, files, chain: withFiles(chain, files, names.length), readMs };
  }
}

function isOpen({ closedBy, chain }: FolderLevel): boolean {
  return closedBy === undefined && chain.length === 0;
}

function toBytes(name: string): string {
  return Buffer.from(name).toString('latin1');
}
