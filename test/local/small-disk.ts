/** A real disk of a few pages, for one test. Root can mount one on Linux, unless a container forbids it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** What a tmpfs gives out at once. */
export const PAGE = 4096;

export function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', 'none', folder]);
  if (status === 0) execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return status === 0;
}

/** Mounts an empty disk over a folder. */
export function mountSmallDisk(folder: string, size: string) {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'none', folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  const filler = join(folder, 'filler');
  return {
    /** Leaves this many bytes, in whole pages. */
    fill: (free = 0) => {
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k']);
      truncateSync(filler, statSync(filler).size - free);
    },
    empty: () => rmSync(filler, { force: true }),
  };
}
