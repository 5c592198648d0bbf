/** Recognises files and folders that nothing has changed since they were read. */
import { type Stats, statfsSync, statSync } from 'node:fs';
import { type BytePath, toBytes } from '../../../machine/byte-path.ts';

/**
 * What the system keeps of an entry. `dev`, `ino` and `birthtimeMs` identify it: the number of a deleted file is used
 * again at once. No program can set `ctimeMs` without changing the system's clock.
 */
export type Stamp = Pick<
  Stats,
  'dev' | 'ino' | 'birthtimeMs' | 'size' | 'mode' | 'mtimeMs' | 'ctimeMs'
>;

export function stampOf({ dev, ino, birthtimeMs, size, mode, mtimeMs, ctimeMs }: Stamp): Stamp {
  return { dev, ino, birthtimeMs, size, mode, mtimeMs, ctimeMs };
}

/** Whether the stamps show no change. That means that there was none only where the first {@link isSettled}. */
export function isSameStamp(one: Stamp, other: Stamp): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.mode === other.mode &&
    one.ino === other.ino &&
    one.birthtimeMs === other.birthtimeMs &&
    one.dev === other.dev
  );
}

/**
 * A stamp as a text, to be kept and compared. It has no device: that of a disk can be another after a restart.
 */
export function stampText({
  size,
  mtimeMs,
  ctimeMs,
  ino,
}: Pick<Stamp, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>): string {
  return [size, mtimeMs, ctimeMs, ino].join('-');
}

/**
 * Whether every later change shows in the stamp, which was taken at `takenMs`, before the content was read. Each change
 * moves `ctimeMs`, and a program can set `mtimeMs` to a time to come.
 * `settledMs`: see TREE_LIMITS.
 */
export function isSettled(
  { ctimeMs }: Pick<Stamp, 'ctimeMs'>,
  takenMs: number,
  settledMs: number,
): boolean {
  return takenMs - ctimeMs > settledMs;
}

/** The device of a folder on a file system whose folder times show every change; undefined for any other. */
export function stampedDevice(root: BytePath): number | undefined {
  const path = toBytes(root);
  return LOCAL_DISKS.has(statfsSync(path).type) ? statSync(path).dev : undefined;
}

/** Ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs. */
const LOCAL_DISKS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);
