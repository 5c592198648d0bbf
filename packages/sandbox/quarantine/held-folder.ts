/** A folder that a command may be changing. A descriptor holds it, so our work never lands in another folder. */
import { type BigIntStats, constants } from 'node:fs';
import { chmod, type FileHandle, lstat, open, opendir, readlink, realpath } from 'node:fs/promises';
import { type BytePath, toBytes } from '../../../machine/byte-path.ts';
import { type EntryKind, kindOf } from '../../../machine/entry-kind.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { O_PATH } from '../view/known-entries.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

export interface HeldEntry {
  readonly name: BytePath;
  readonly kind: EntryKind;
}

/** An entry has changed since the last look, or our limits do not allow the work on it. */
export class QuarantineError extends Error {
  override readonly name = 'QuarantineError';
}

/**
 * On Linux a descriptor serves as a path, so no program can put another folder in between. Elsewhere there is no
 * sandbox.
 */
export class HeldFolder implements AsyncDisposable {
  /** The folder's path when it was opened: absolute, with every link resolved. */
  readonly path: BytePath;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, path: BytePath) {
    this.#handle = handle;
    this.path = path;
  }

  /**
   * Opens a folder by its real path. Throws a {@link QuarantineError} when the path leads through a link: it was put
   * there since.
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

  /** Opens a folder in this one. Does not follow a link. */
  async openFolder(name: BytePath): Promise<HeldFolder> {
    return await HeldFolder.#hold(this.entry(name), `${this.path}/${name}`);
  }

  /** Like {@link openFolder}, but also opens a folder that its mode closes. Only for what a command made. */
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

  /** A path to an entry of this very folder, even after the folder has been renamed. */
  entry(name: BytePath): Buffer {
    return toBytes(`${this.#self}/${name}`);
  }

  /** Throws `ENOENT` where there is no entry. */
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

  /** All entries, in the order of the disk. Throws a {@link QuarantineError} for more than `maxEntries`. */
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

  /** The bytes of a regular file. Undefined for any other kind, and for a file that is too large. Never blocks. */
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
    // One byte more than allowed, because the file may grow during the read.
    const bytes = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await held.read(bytes, 0, bytes.length, 0);
    return bytesRead > maxBytes ? undefined : bytes.subarray(0, bytesRead);
  }

  /**
   * Gives the owner of an entry all rights, which the owner may have removed. Works by descriptor, because `chmod` by
   * name follows links.
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
