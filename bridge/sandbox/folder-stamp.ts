/** Recognises a folder that still has the entries that it had when it was read. */
import { type Stats, statfsSync, statSync } from 'node:fs';
import { type BytePath, toBytes } from './byte-path.ts';
import { SANDBOX_LIMITS } from './limits.ts';

/** `dev`, `ino` and `birthtimeMs` identify the folder. */
export interface FolderStamp extends Pick<Stats, 'dev' | 'ino' | 'birthtimeMs'> {
  readonly changedMs: number;
  readonly readMs: number;
}

/** The caller reads the folder after it took the folder's `stats`. */
export function stampOf({ dev, ino, birthtimeMs, ctimeMs, mtimeMs }: Stats): FolderStamp {
  return { dev, ino, birthtimeMs, changedMs: Math.max(ctimeMs, mtimeMs), readMs: Date.now() };
}

/** Whether the folder is as it was read. No program can set `ctime` without changing the system's clock. */
export function isAsRead(stamp: FolderStamp, stats: Stats): boolean {
  const isSettled = stamp.readMs - stamp.changedMs > SANDBOX_LIMITS.settledMs;
  const isUnchanged = stamp.changedMs === Math.max(stats.ctimeMs, stats.mtimeMs);
  const { dev, ino, birthtimeMs } = stats;
  const isSame = stamp.dev === dev && stamp.ino === ino && stamp.birthtimeMs === birthtimeMs;
  return isSettled && isUnchanged && isSame;
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
