/** Finds the files that changed between two looks, for servers: they cannot watch a folder in the sandbox. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Turns } from '../../machine/compute/turns.ts';
import { listFiles } from '../code-index/index.ts';
import { stampText } from '../workspace/index.ts';
import type { DiskChange } from './language-server.ts';
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
  async since(signal: AbortSignal): Promise<readonly DiskChange[]> {
    const named = this.#extensions.map((extension) => `*${extension}`);
    const names = await listFiles({ folder: this.#root, named, signal });
    if (names.length > DIAGNOSTICS_LIMITS.maxWatchedFiles) return [];
    const paths = names.map((name) => join(this.#root, name));
    const [before, now] = [this.#stamps, await stampsOf(paths)];
    this.#stamps = now;
    if (before === undefined) return [];
    const gone = [...before.keys()].filter((path) => !now.has(path));
    return [
      ...gone.map((path): DiskChange => ({ path, type: 'deleted' })),
      ...[...now]
        .filter(([path, stamp]) => before.get(path) !== stamp)
        .map(([path]): DiskChange => ({ path, type: before.has(path) ? 'changed' : 'created' })),
    ];
  }
}

/** Becomes another one with an installation into the folder of a project. */
export function installationStamp(root: string): string {
  return PROGRAM_FOLDERS.map((name) => stampOf(join(root, name))).join(' ');
}

const PROGRAM_FOLDERS = ['node_modules', 'node_modules/.bin', '.venv/bin'];

/** By path. Not in the pool of threads, which takes ten times as long for so many. */
async function stampsOf(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>();
  const turns = new Turns();
  for (const path of paths) {
    stamps.set(path, stampOf(path));
    if (turns.isDue) await turns.take();
  }
  return stamps;
}

/** A change of anything but the content gives another stamp, too. That only makes a server read the file again. */
function stampOf(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats ? stampText(stats) : '';
  } catch {
    return ''; // In a folder that cannot be entered any more.
  }
}
