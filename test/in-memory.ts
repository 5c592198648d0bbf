/** Files of tests that lie in memory, where there is a folder for that: a disk takes most of the time of small files. */
import { existsSync, statfsSync } from 'node:fs';
import { beforeEach, vi } from 'vitest';
import { GIB } from '../shared/units.ts';

const MEMORY = '/dev/shm';

/** Some containers have 64 MiB there. */
const MIN_FREE_BYTES = GIB;

export function memoryFolder(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < MIN_FREE_BYTES ? undefined : MEMORY;
}

/**
 * For a file of tests that make folders of their own and run no program from them, as git runs hooks: some systems forbid
 * that there. Not for one that a `*.deep.ts` imports beside such tests.
 */
export function keepFoldersInMemory(): void {
  const folder = memoryFolder();
  if (folder !== undefined) beforeEach(() => void vi.stubEnv('TMPDIR', folder));
}
