/** Stores contents of files by their hash, in the bridge's state folder. What is damaged or missing counts as not stored. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../machine/hash.ts';
import { giveToOwner, makePrivateFolder, PRIVATE_FILE } from '../../machine/private-files.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** Synchronous: a content must be stored before the change that follows it, and one takes a fraction of a millisecond. */
export class BlobStore {
  readonly #folder: string;
  /** Bytes by hash, the one unused for longest first. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  /** Throws the system's error where the folder cannot be made or listed. */
  constructor(folder: string) {
    makePrivateFolder(folder);
    this.#folder = folder;
    const found = readdirSync(folder).flatMap((name) => {
      const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
      if (HASH.test(name) && stats?.isFile()) return [{ name, ...sizeAndAge(stats) }];
      if (name.endsWith(PART)) rmSync(join(folder, name), { force: true });
      return [];
    });
    found.sort((a, b) => a.mtimeMs - b.mtimeMs);
    for (const { name, size } of found) this.#note(name, size);
    this.#shrink();
  }

  /** Whether the content is stored now: not one that is too large, and none on a full disk. Never throws. */
  put(hash: string, bytes: Uint8Array): boolean {
    if (bytes.length > CHECKPOINT_LIMITS.maxFileBytes) return false;
    const path = join(this.#folder, hash);
    try {
      if (this.#sizes.has(hash) && this.get(hash) !== null) {
        const now = new Date();
        utimesSync(path, now, now);
      } else {
        const part = `${path}.${randomUUID()}${PART}`;
        try {
          this.#write(part, bytes);
          renameSync(part, path);
        } finally {
          rmSync(part, { force: true });
        }
      }
    } catch {
      return false; // The change itself must not fail. Its entry says that it cannot be undone.
    }
    this.#note(hash, bytes.length);
    this.#shrink();
    return true;
  }

  /** Whether the content seems to be stored. Does not look at it. */
  has(hash: string): boolean {
    return this.#sizes.has(hash);
  }

  /** Counts a stored content as used now. */
  use(hash: string): void {
    const size = this.#sizes.get(hash);
    if (size === undefined) return;
    this.#note(hash, size);
    const now = new Date();
    try {
      utimesSync(join(this.#folder, hash), now, now);
    } catch {
      // It is damaged or missing: `get` finds out.
    }
  }

  /** Null where the content is not stored, or no longer what it was. */
  get(hash: string): Uint8Array | null {
    if (!HASH.test(hash)) return null;
    try {
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
      const file = openSync(join(this.#folder, hash), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const stats = fstatSync(file);
        if (!stats.isFile() || stats.size > CHECKPOINT_LIMITS.maxFileBytes) return null;
        const bytes = readFileSync(file);
        return sha256(bytes) === hash ? bytes : null;
      } finally {
        closeSync(file);
      }
    } catch {
      return null;
    }
  }

  #write(path: string, bytes: Uint8Array): void {
    const file = openSync(path, 'wx', PRIVATE_FILE);
    try {
      giveToOwner(file, this.#folder);
      writeFileSync(file, bytes);
    } finally {
      closeSync(file);
    }
  }

  /** Counts the content as the one used last. */
  #note(hash: string, size: number): void {
    this.#bytes += size - (this.#sizes.get(hash) ?? 0);
    this.#sizes.delete(hash);
    this.#sizes.set(hash, size);
  }

  #shrink(): void {
    const oldestMs = Date.now() - CHECKPOINT_LIMITS.maxAgeMs;
    for (const [hash, size] of this.#sizes) {
      const path = join(this.#folder, hash);
      const isFull = this.#bytes > CHECKPOINT_LIMITS.maxStoreBytes;
      const stats = isFull ? undefined : lstatSync(path, { throwIfNoEntry: false });
      if (stats && stats.mtimeMs >= oldestMs) return;
      rmSync(path, { force: true });
      this.#sizes.delete(hash);
      this.#bytes -= size;
    }
  }
}

function sizeAndAge({ size, mtimeMs }: { size: number; mtimeMs: number }) {
  return { size, mtimeMs };
}

const HASH = /^[0-9a-f]{64}$/;
const PART = '.part';
