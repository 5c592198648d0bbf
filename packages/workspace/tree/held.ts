/** Looks at files and folders that are where their paths say, so that no link leads a look to another place. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { type BytePath, toPathLike } from '../../../machine/byte-path.ts';
import { isSystemError } from '../../../machine/system-error.ts';

/** Links are not followed. Undefined where nothing is at the path, or where it leads through what is no folder of ours. */
export function statsOf(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toPathLike(path), IF_ANY);
  } catch (error) {
    if (isSystemError(error, ...UNREACHABLE)) return undefined;
    throw error;
  }
}

const IF_ANY = { throwIfNoEntry: false } as const;

/**
 * Works in the folder if it is where its path says. On Linux the held path leads to this very folder, wherever a program
 * moves it meanwhile. The stats are the folder's, from before the work.
 */
export function inHeld<Found>(
  path: BytePath,
  work: (held: BytePath, stats: Stats) => Found,
): Found | undefined {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const folder = unlessUnreachable(() =>
    openSync(toPathLike(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
  );
  if (folder === undefined) return undefined;
  try {
    if (!isAt(folder, path)) return undefined;
    return work(IS_LINUX ? `/proc/self/fd/${folder}` : path, fstatSync(folder));
  } finally {
    closeSync(folder);
  }
}

/** Whether no link stands in the path. Other systems than Linux can only look the name up again. */
export function isAt(descriptor: number, path: BytePath): boolean {
  const real = unlessUnreachable(() =>
    IS_LINUX
      ? readlinkSync(`/proc/self/fd/${descriptor}`, LATIN1)
      : realpathSync.native(toPathLike(path), LATIN1),
  );
  return real === path;
}

const IS_LINUX = process.platform === 'linux';
const LATIN1 = { encoding: 'latin1' } as const;

/** Undefined where the path has gone since it was listed, or where we may not go. Any other error is thrown. */
export function unlessUnreachable<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch (error) {
    if (isSystemError(error, ...UNREACHABLE)) return undefined;
    throw error;
  }
}

const UNREACHABLE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENAMETOOLONG'];
