/** A folder that a command may be changing: held by its descriptor, so that nothing done in it happens elsewhere. */
import { type BigIntStats, constants } from 'node:fs';
import { chmod, type FileHandle, lstat, open, opendir, readlink, realpath } from 'node:fs/promises';
import { isSystemError } from '../../machine/system-error.ts';
import { type BytePath, toBytes } from '../sandbox/byte-path.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

/** What lies under a name; nothing is followed. */
export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface HeldEntry {
  readonly name: BytePath;
  readonly kind: EntryKind;
}

/** Something is not what it was a moment ago, or cannot be worked on within our limits. */
export class QuarantineError extends Error {
  override readonly name = 'QuarantineError';
}

/** On Linux a descriptor is a path, and nothing can come between; elsewhere there is no sandbox whose commands could. */
export class HeldFolder implements AsyncDisposable {
  /** Where it was when it was opened: absolute, with every link resolved. */
  readonly path: BytePath;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, path: BytePath) {
    this.#handle = handle;
    this.path = path;
  }

  /**
   * Opens a folder by its real path. A link anywhere on the way was put there since: that is a {@link QuarantineError}.
   */
  static async open(path: BytePath): Promise<HeldFolder> {
    const held = await HeldFolder.#hold(toBytes(path), path);
    const real = IS_LINUX
      ? await readlink(held.#self, { encoding: 'latin1' })
      : await realpath(toBytes(path), { encoding: 'latin1' });
    if (real === path) return held;
    await held[Symbol.asyncDispose]();
    throw new QuarantineError('a folder on the way to it was replaced');
  }

  /** Opens a folder in this one. A link is not followed. */
  async openFolder(name: BytePath): Promise<HeldFolder> {
    return await HeldFolder.#hold(this.entry(name), `${this.path}/${name}`);
  }

  /** As {@link openFolder}, also one that its modes close: for what a command made, never for the person's own. */
  async openAnyway(name: BytePath): Promise<HeldFolder> {
    try {
      return await this.openFolder(name);
    } catch (error) {
      if (!isSystemError(error, 'EACCES')) throw error;
    }
    await this.makeOurs(name);
    return await this.openFolder(name);
  }

  static async #hold(path: Buffer, real: BytePath): Promise<HeldFolder> {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    return new HeldFolder(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), real);
  }

  /** A path that leads to this very folder's entry, whatever the folder is called by now. */
  entry(name: BytePath): Buffer {
    return toBytes(`${this.#self}/${name}`);
  }

  /** Throws `ENOENT` where there is none. */
  async stat(name: BytePath): Promise<BigIntStats> {
    return await lstat(this.entry(name), { bigint: true });
  }

  /** Whether there is an entry of this name, of any kind. */
  async has(name: BytePath): Promise<boolean> {
    try {
      await this.stat(name);
      return true;
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** All entries, in the order of the disk; more than the limit are a {@link QuarantineError}. */
  async list(): Promise<readonly HeldEntry[]> {
    const entries: HeldEntry[] = [];
    for await (const entry of await opendir(toBytes(this.#self), { encoding: 'latin1' })) {
      if (entries.length === QUARANTINE_LIMITS.maxEntries) {
        throw new QuarantineError('it holds too many entries to look at');
      }
      entries.push({ name: entry.name, kind: kindOf(entry) });
    }
    return entries;
  }

  /** The bytes of a regular file; undefined for anything else and for one that is too large. Never waits. */
  async read(name: BytePath, maxBytes: number): Promise<Buffer | undefined> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    let file: FileHandle;
    try {
      file = await open(this.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (isSystemError(error, 'ELOOP', 'ENXIO', 'EACCES')) return undefined;
      throw error;
    }
    await using held = file;
    const stats = await held.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    // One byte more than allowed: it may grow while it is read.
    const bytes = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await held.read(bytes, 0, bytes.length, 0);
    return bytesRead > maxBytes ? undefined : bytes.subarray(0, bytesRead);
  }

  /**
   * Gives its owner all rights to an entry that they may have taken from themselves. By a descriptor: `chmod` by name
   * follows links.
   */
  async makeOurs(name: BytePath): Promise<void> {
    if (!IS_LINUX) return;
    await using handle = await open(this.entry(name), O_PATH | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (stats.isSymbolicLink()) return;
    await chmod(`/proc/self/fd/${handle.fd}`, stats.mode | constants.S_IRWXU);
  }

  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  get #self(): BytePath {
    return IS_LINUX ? `/proc/self/fd/${this.#handle.fd}` : this.path;
  }
}

const IS_LINUX = process.platform === 'linux';

/** Linux's own; Node has no name for it. */
const O_PATH = 0o10000000;

/** Of anything that tells what it is. */
export function kindOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): EntryKind {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}
