/** Reads files, links and folders that are where their paths say, so that no link leads out of the workspace. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { isSystemError } from '../../machine/system-error.ts';
import { type BytePath, toPathLike } from '../sandbox/byte-path.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** What the system keeps of a file. */
export type FileStamp = Pick<
  Stats,
  'ino' | 'size' | 'mtimeMs' | 'ctimeMs' | 'birthtimeMs' | 'mode'
>;

/** Whether nothing has changed the file. */
export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.ino === other.ino &&
    one.mode === other.mode
  );
}

/** By the path, which takes half of the time: names and contents come only from what is held. */
export function statsOf(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toPathLike(path), IF_ANY);
  } catch (error) {
    if (isSystemError(error, ...GONE)) return undefined;
    throw error;
  }
}

const IF_ANY = { throwIfNoEntry: false } as const;

/** Works in the folder if it is still where its path says. What fails counts as not there. */
export function inHeld<Found>(
  path: BytePath,
  work: (held: string, stats: Stats) => Found,
): Found | undefined {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  try {
    const folder = openSync(toPathLike(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      if (!isAt(folder, path)) return undefined;
      return work(IS_LINUX ? `/proc/self/fd/${folder}` : path, fstatSync(folder));
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (isSystemError(error, ...GONE)) return undefined;
    throw error;
  }
}

/** The target, as the system has it. Undefined for anything but a link at this place. */
export function readLink(path: BytePath): string | undefined {
  const at = path.lastIndexOf('/');
  return inHeld(path.slice(0, at), (folder) =>
    readlinkSync(toPathLike(`${folder}/${path.slice(at + 1)}`), { encoding: 'latin1' }),
  );
}

/** Null for anything but a regular file at this place. */
export function readHeld(path: BytePath): { readonly stats: Stats; readonly bytes: Buffer } | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(toPathLike(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      const isFitting = stats.isFile() && stats.size <= CHECKPOINT_LIMITS.maxFileBytes;
      if (!isFitting || !isAt(file, path)) return null;
      const bytes = readFileSync(file);
      return isSameStamp(fstatSync(file), stats) ? { stats, bytes } : null;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error, ...GONE)) return null;
    throw error;
  }
}

/** Whether no link stands in the path. Other systems than Linux can only look the name up again. */
function isAt(descriptor: number, path: BytePath): boolean {
  const real = IS_LINUX
    ? readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'latin1' })
    : realpathSync(toPathLike(path), { encoding: 'latin1' });
  return real === path;
}

const IS_LINUX = process.platform === 'linux';
const GONE = [
  'ENOENT',
  'ENOTDIR',
  'EINVAL',
  'ELOOP',
  'EACCES',
  'EPERM',
  'ENXIO',
  'EIO',
  'ESTALE',
  'EMFILE',
];
