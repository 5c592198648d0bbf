/** Shows folders of the person's to commands in another folder: read-only, and without their secrets. */

import { realpath, stat } from 'node:fs/promises';
import { type BytePath, fromText, isBelow } from '../../../machine/byte-path.ts';
import {
  type ClosedEntry,
  FOLDER_LIMITS,
  type Rights,
  WorkspaceScan,
} from '../../workspace/index.ts';
import { type CommandUser, otherRights } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { closeEntries, mountable } from './view.ts';

/** Shows a folder, without its secrets and read-only, at a place that commands know. Both paths are real. */
export interface FolderLink {
  readonly from: string;
  /** Inside the workspace, where the folder must exist, or the same as `from`. */
  readonly to: string;
}

/**
 * The links of one folder. Commands may write around both ends of a link, so the mounts hold for one moment only, while
 * every command is stopped.
 */
export class Links {
  readonly #links: readonly FolderLink[];
  readonly #rights: Rights | undefined;
  readonly #around: BytePath;
  readonly #scans = new Map<string, WorkspaceScan>();
  #shown: readonly FolderLink[] = [];

  /** `around` is the folder that the linked ones lie in. Its commands may write there. */
  constructor(links: readonly FolderLink[], account: CommandUser, around: string) {
    this.#links = links;
    this.#around = fromText(around);
    this.#rights = otherRights(account);
  }

  /** Those that the newest mounts show. */
  get shown(): readonly FolderLink[] {
    return this.#shown;
  }

  /**
   * The mounts as of now. A link of which one end is no folder any more, or leads to another place, has none. Throws an error
   * where a folder has too much to close.
   */
  async mounts(): Promise<BytePath[]> {
    const mounts: BytePath[] = [];
    const shown: FolderLink[] = [];
    let count = 0;
    for (const link of this.#links) {
      if (!(await isRealFolder(link.from)) || !(await isRealFolder(link.to))) continue;
      const secrets = await this.#secretsAt(link);
      count += secrets.length;
      if (count > SANDBOX_LIMITS.maxFirstMounts) throw tooMany(link.from);
      mounts.push('--ro-bind', fromText(link.from), fromText(link.to), ...closeEntries(secrets));
      shown.push(link);
    }
    this.#shown = shown;
    return mounts;
  }

  /** The secrets of the folder, in the place where commands see them. */
  async #secretsAt({ from, to }: FolderLink): Promise<ClosedEntry[]> {
    const [source, target] = [fromText(from), fromText(to)];
    // What lies in a repository's own folder is git's, and no ignore file is about it.
    const ignoring = source.includes('/.git/') ? [] : [source];
    const scan =
      this.#scans.get(from) ??
      new WorkspaceScan(source, {
        rights: this.#rights,
        ignoring,
        ...(isBelow(this.#around, source) && { writable: this.#around }),
      });
    this.#scans.set(from, scan);
    const { entries, isCut } = await scan.look(FOLDER_LIMITS.firstScanMs);
    if (isCut) throw tooMany(from);
    const isClosed = ({ closure, kind }: ClosedEntry) => closure === 'secret' && kind !== 'link';
    return mountable(entries.filter(isClosed)).map((entry) => ({
      ...entry,
      path: `${target}${entry.path.slice(source.length)}`,
    }));
  }
}

/** Whether a folder is there, and no link leads to it. */
export async function isRealFolder(path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  return real === path && (await stat(path)).isDirectory();
}

function tooMany(folder: string): Error {
  return new Error(
    `${folder} is too large to be shown to commands, or has more than ${SANDBOX_LIMITS.maxFirstMounts} files with secrets`,
  );
}
