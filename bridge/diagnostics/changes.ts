/** Finds the files that changed between two looks, for servers: they cannot watch a folder in the sandbox. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { listFiles } from '../search/file-list.ts';
import type { FileChange } from './language-server.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';

/**
 * Of one folder. Ignored files are left out; they are mostly made of the others. In a project with too many files only
 * the checked files count.
 */
export class FileChanges {
  readonly #root: string;
  readonly #extensions: readonly string[];
  #stamps: ReadonlyMap<string, string> | undefined;

  constructor(root: string, extensions: readonly string[]) {
    this.#root = root;
    this.#extensions = extensions;
  }

  /** Since the call before; nothing at the first. */
  async since(signal: AbortSignal): Promise<readonly FileChange[]> {
    const named = this.#extensions.map((extension) => `*${extension}`);
    const names = await listFiles({ folder: this.#root, named, signal });
    if (names.length > DIAGNOSTICS_LIMITS.maxWatchedFiles) return [];
    const paths = names.map((name) => join(this.#root, name));
    const stamped = await Promise.all(
      paths.map(async (path) => [path, await stampOf(path)] as const),
    );
    const [before, now] = [this.#stamps, new Map(stamped)];
    this.#stamps = now;
    if (before === undefined) return [];
    const gone = [...before.keys()].filter((path) => !now.has(path));
    return [
      ...gone.map((path): FileChange => ({ path, type: 'deleted' })),
      ...stamped
        .filter(([path, stamp]) => before.get(path) !== stamp)
        .map(([path]): FileChange => ({ path, type: before.has(path) ? 'changed' : 'created' })),
    ];
  }
}

/** A change of anything but the content gives another stamp, too. That only makes a server read the file again. */
async function stampOf(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => null);
  return stats === null ? '' : [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join('-');
}
