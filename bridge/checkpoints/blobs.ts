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
  /** Until when contents stay whatever comes later, by hash. */
  readonly #promised = new Map<string, number>();
  #promisedBytes = 0;

  /** `promised` has contents that go last, with until when they stay. Throws the system's error where the folder cannot be made or listed. */
  constructor(folder: string, promised: ReadonlyMap<string, number> = new Map()) {
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
    for (const [hash, untilMs] of promised) this.#promise(hash, untilMs);
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

  /**
   * Keeps these contents until then, whatever comes later. False where one is not stored, or where so much is kept that
   * no room would be left for what changes; then nothing is promised.
   */
  promise(hashes: readonly string[], untilMs: number): boolean {
    const now = Date.now();
    for (const [hash, endMs] of this.#promised) if (endMs < now) this.#release(hash);
    const fresh = [...new Set(hashes)].filter((hash) => !this.#promised.has(hash));
    const bytes = fresh.reduce((sum, hash) => sum + (this.#sizes.get(hash) ?? 0), 0);
    if (!hashes.every((hash) => this.#sizes.has(hash))) return false;
    if (bytes > 0 && this.#promisedBytes + bytes > CHECKPOINT_LIMITS.maxPromisedBytes) return false;
    for (const hash of hashes) this.#promise(hash, untilMs);
    return true;
  }

  isPromised(hash: string): boolean {
    return this.#promised.has(hash);
  }

  #promise(hash: string, untilMs: number): void {
    const size = this.#sizes.get(hash);
    if (size === undefined) return;
    if (!this.#promised.has(hash)) this.#promisedBytes += size;
    this.#promised.set(hash, Math.max(untilMs, this.#promised.get(hash) ?? 0));
  }

  #release(hash: string): void {
    if (this.#promised.delete(hash)) this.#promisedBytes -= this.#sizes.get(hash) ?? 0;
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
      if ((this.#promised.get(hash) ?? 0) > Date.now()) continue;
      const path = join(this.#folder, hash);
      const isFull = this.#bytes > CHECKPOINT_LIMITS.maxStoreBytes;
      const stats = isFull ? undefined : lstatSync(path, { throwIfNoEntry: false });
      if (stats && stats.mtimeMs >= oldestMs) return;
      rmSync(path, { force: true });
      this.#release(hash);
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
