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

/** For a file of tests that make their own folders, and run no program from them: some systems forbid that there. */
export function keepFoldersInMemory(): void {
  const folder = memoryFolder();
  if (folder !== undefined) beforeEach(() => void vi.stubEnv('TMPDIR', folder));
}
