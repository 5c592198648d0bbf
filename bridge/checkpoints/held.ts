/** Reads files and links that are where their paths say, so that no link leads out of the workspace. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { type BytePath, toPathLike } from '../../machine/byte-path.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { inHeld, isAt, isSameStamp } from '../../packages/workspace/index.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** By the path, which takes half of the time: names and contents come only from what is held. */
export function statsOf(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toPathLike(path), { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error, ...FAILING)) return undefined;
    throw error;
  }
}

/** The target, as the system has it. Undefined for anything but a link at this place. */
export function readLink(path: BytePath): string | undefined {
  const at = path.lastIndexOf('/');
  return ifThere(() =>
    inHeld(path.slice(0, at), (folder) =>
      readlinkSync(toPathLike(`${folder}/${path.slice(at + 1)}`), { encoding: 'latin1' }),
    ),
  );
}

/** Null for anything but a regular file at this place. */
export function readHeld(path: BytePath): { readonly stats: Stats; readonly bytes: Buffer } | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const read = ifThere(() => {
    const file = openSync(toPathLike(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      const isFitting = stats.isFile() && stats.size <= CHECKPOINT_LIMITS.maxFileBytes;
      if (!isFitting || !isAt(file, path)) return undefined;
      const bytes = readFileSync(file);
      return isSameStamp(fstatSync(file), stats) ? { stats, bytes } : undefined;
    } finally {
      closeSync(file);
    }
  });
  return read ?? null;
}

/** Undefined where the look fails: what fails counts as not there, so that one place fails no look at all others. */
export function ifThere<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch (error) {
    if (isSystemError(error, ...FAILING)) return undefined;
    throw error;
  }
}

const FAILING = [
  'ENOENT',
  'ENOTDIR',
  'EINVAL',
  'ELOOP',
  'EACCES',
  'EPERM',
  'ENAMETOOLONG',
  'ENXIO',
  'EIO',
  'ESTALE',
  'EMFILE',
];
