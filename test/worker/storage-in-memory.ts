/** Keeps the runtimes' storage in memory where there is a folder for that: a tenth of the tests' processor time. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import { GIB } from '../../shared/units.ts';

const MEMORY = '/dev/shm';

/** Some containers have 64 MiB there. */
const MIN_FREE_BYTES = GIB;

export function setup(): (() => void) | undefined {
  if (!existsSync(MEMORY)) return;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < MIN_FREE_BYTES) return;
  const folder = mkdtempSync(`${MEMORY}/drawbridge-tests-`);
  const { tmpdir } = os;
  // Miniflare has no option for its folder. The variable TMPDIR would reach the other projects' processes.
  Object.assign(os, { tmpdir: () => folder });
  return () => {
    Object.assign(os, { tmpdir });
    rmSync(folder, { recursive: true, force: true });
  };
}
