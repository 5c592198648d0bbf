/** An index that follows its workspace: reads what has changed, and ranks what it has. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fromText } from '../../machine/byte-path.ts';
import { Turns } from '../../machine/compute/turns.ts';
import { sha256 } from '../../machine/hash.ts';
import { loadSqlite } from '../../machine/sqlite.ts';
import { isWithin } from '../../shared/text/paths.ts';
import { isAt, isSettled, stampText, TREE_LIMITS } from '../workspace/index.ts';
import { entryOf } from './entry.ts';
import { joined } from './join.ts';
import { INDEX_LIMITS } from './limits.ts';
import type {
  IndexWork,
  Pending,
  PendingText,
  QuestionVector,
  RankedChunk,
  UpdateReport,
} from './messages.ts';
import { type Query, type RankedFile, type Ranking, rank } from './query.ts';
import { kindOfPath, orderOfKind, weightOfKind } from './search/codebase/kinds.ts';
import { linesOf } from './search/codebase/pick.ts';
import { type ChunkId, fileOf, type IndexedFile, type KnownFile, Store } from './store.ts';
import { nearestVectors } from './vectors.ts';

type Progress = (done: number, of: number) => void;

/** In the thread of the index only. */
export class Searchable {
  readonly #root: string;
  readonly #store: Store;
  readonly #parses: boolean;
  /** As the store has them. */
  readonly #files: Map<string, KnownFile>;
  readonly #ranked = new Map<number, RankedFile>();
  /** Whether a search has read files again since the last update. */
  #hasReread = false;

  private constructor(store: Store, root: string, parses: boolean) {
    this.#store = store;
    this.#root = root;
    this.#parses = parses;
    this.#files = store.files();
    for (const [path, { id, bytes }] of this.#files)
      this.#ranked.set(id, { path, kind: kindOfPath(path), bytes });
  }

  static open({ path, root, parses }: IndexWork['open']['ask']): Searchable {
    const sqlite = loadSqlite();
    if (!sqlite) throw new Error('this Node has no SQLite');
    return new Searchable(Store.open(sqlite, path, root), root, parses);
  }

  /** `names` are all files of the workspace that may be in the index. Others go out of it. */
  async update(names: readonly string[], onProgress: Progress): Promise<UpdateReport> {
    const { changed, kept, leftOut } = await this.#compare(names);
    const gone = await this.#removeAllBut(kept);
    let done = 0;
    let shownMs = performance.now();
    const size = kept.size;
    for (let at = 0; at < changed.length; at += INDEX_LIMITS.filesPerWrite) {
      await this.#read(changed.slice(at, at + INDEX_LIMITS.filesPerWrite));
      done += INDEX_LIMITS.filesPerWrite;
      if (performance.now() - shownMs < INDEX_LIMITS.progressMs) continue;
      shownMs = performance.now();
      onProgress(Math.max(0, size - changed.length + Math.min(done, changed.length)), size);
    }
    const hasChanged = changed.length > 0 || gone > 0 || this.#hasReread;
    this.#hasReread = false;
    return { files: this.#files.size, leftOut, hasChanged };
  }

  /** Reads the files of chunks without a vector. A chunk whose file has changed waits for the next look. */
  pending({ embedder, after }: IndexWork['pending']['ask']): Pending {
    this.#store.useEmbedder(embedder);
    if (after === 0) this.#store.pruneVectors();
    const chunks = this.#store.bareChunks(after, INDEX_LIMITS.maxInputs);
    const texts = new Map<string, PendingText>();
    let read: { readonly path: string; readonly lines: readonly string[] } | undefined;
    for (const { path, start, end, hash } of chunks) {
      if (read?.path !== path) read = { path, lines: this.#linesOf(path) };
      const text = read.lines.slice(start, end).join('\n');
      if (text.trim() !== '' && sha256(text) === hash) texts.set(hash, { path, hash, text });
    }
    return {
      texts: [...texts.values()],
      after: chunks.length < INDEX_LIMITS.maxInputs ? null : (chunks.at(-1)?.id ?? null),
      ...(after === 0 && { count: this.#store.countVectors() }),
    };
  }

  keep({ embedder, vectors }: IndexWork['keep']['ask']): boolean {
    const length = vectors[0]?.numbers.length ?? 0;
    this.#store.useEmbedder(embedder);
    if (this.#store.hasVectors(embedder, length) === 'other') return false;
    this.#store.putVectors(vectors);
    return true;
  }

  forgetVectors(): void {
    this.#store.forgetVectors();
  }

  close(): void {
    this.#store.close();
  }

  /** Reads the files of the answer again where they have changed since. */
  async rank(asked: IndexWork['rank']['ask']): Promise<RankedChunk> {
    const ranked = this.#rank(asked);
    const stale = [
      ...new Set(ranked.hits.slice(0, INDEX_LIMITS.maxChecked).map(({ path }) => path)),
    ].filter((path) => this.#isStale(path));
    if (stale.length === 0) return ranked;
    await this.#read(stale);
    this.#hasReread = true;
    return this.#rank(asked);
  }

  #isStale(path: string): boolean {
    const stats = statOf(join(this.#root, path));
    return stats === undefined || this.#files.get(path)?.stamp !== stampText(stats);
  }

  #rank({ question, places, limit, vector, needsWords }: IndexWork['rank']['ask']): RankedChunk {
    const isWhole = places.includes('.');
    const fileWith = (id: number) => {
      const file = this.#ranked.get(id);
      return file && (isWhole || isWithin(file.path, places)) ? file : undefined;
    };
    const has = vector && this.#store.hasVectors(vector.embedder, vector.numbers.length);
    const fused = Math.max(limit, INDEX_LIMITS.minFused);
    const byWords = rank(this.#store, { question, fileWith, limit: fused });
    const most = needsWords ? 0 : fused * INDEX_LIMITS.nearestFactor;
    const near =
      vector && has === 'yes'
        ? this.#nearest(vector, { question, fileWith, byWords, most })
        : undefined;
    const ranking = near ? joined(byWords, near) : byWords;
    const hits = ranking.slice(0, limit).flatMap(([chunk, score]) => {
      const path = this.#ranked.get(fileOf(chunk))?.path;
      const lines = this.#store.linesOf(chunk);
      return path !== undefined && lines ? [{ path, ...lines, score }] : [];
    });
    return { hits, vector: near ? 'used' : has === 'other' ? 'other' : 'unused' };
  }

  /** How near chunks are to the question. Tests and documents count less, as they do for words. */
  #nearest(
    { numbers, maxMs }: QuestionVector,
    { question, fileWith, byWords, most }: Nearest,
  ): Map<ChunkId, number> | undefined {
    const vectors = nearestVectors(numbers, this.#store.vectorPages(), maxMs);
    if (!vectors) return undefined;
    const found = new Map<ChunkId, number>();
    const note = (chunk: ChunkId, nearness: number) => {
      const file = fileWith(fileOf(chunk));
      if (file) found.set(chunk, nearness * weightOfKind(file.kind, question));
    };
    for (const [id, nearness] of vectors) {
      if (found.size >= most) break;
      for (const chunk of this.#store.chunksOfVector(id)) note(chunk, nearness);
    }
    for (const [chunk] of byWords) {
      note(chunk, vectors.get(this.#store.vectorOf(chunk) ?? 0) ?? 0);
    }
    return found;
  }

  /** The files whose times have changed. Beyond the limits, code comes before documents and data. */
  async #compare(names: readonly string[]): Promise<Comparison> {
    const turns = new Turns();
    const changed: string[] = [];
    const kept = new Set<string>();
    const { maxFiles, maxBytes, maxFileBytes } = INDEX_LIMITS;
    let [bytes, leftOut] = [0, 0];
    const ordered =
      names.length <= maxFiles ? names : [...names].sort((a, b) => orderOfKind(a) - orderOfKind(b));
    for (const name of ordered) {
      if (turns.isDue) await turns.take();
      const stats = statOf(join(this.#root, name));
      if (stats === undefined) continue;
      const known = this.#files.get(name);
      if (stats.size > maxFileBytes) continue;
      if (kept.size === maxFiles || bytes + stats.size > maxBytes) leftOut++;
      else {
        kept.add(name);
        bytes += stats.size;
        if (known?.stamp !== stampText(stats)) changed.push(name);
      }
    }
    return { changed, kept, leftOut };
  }

  /** Returns how many there were. */
  async #removeAllBut(kept: ReadonlySet<string>): Promise<number> {
    const gone = [...this.#files.keys()].filter((path) => !kept.has(path));
    for (let at = 0; at < gone.length; at += INDEX_LIMITS.filesPerWrite) {
      this.#store.inOneStep(() => {
        for (const path of gone.slice(at, at + INDEX_LIMITS.filesPerWrite)) this.#forget(path);
      });
      await nextTurn();
    }
    return gone.length;
  }

  /** Reads files and writes their entries in one step. What is no readable file any more leaves the index. */
  async #read(paths: readonly string[]): Promise<void> {
    const entries: { readonly path: string; readonly entry: IndexedFile | 'same' | undefined }[] =
      [];
    const stamps = new Map<string, string>();
    for (const path of paths) {
      const file = readRegular(join(this.#root, path));
      if (file && this.#files.get(path)?.hash === file.hash) {
        stamps.set(path, file.stamp);
        entries.push({ path, entry: 'same' });
      } else entries.push({ path, entry: file && (await this.#entryOf(path, file)) });
      await nextTurn();
    }
    this.#store.inOneStep(() => {
      for (const { path, entry } of entries) {
        if (entry === 'same') this.#stamp(path, stamps.get(path) ?? '');
        else {
          this.#forget(path);
          if (entry) this.#put(entry);
        }
      }
    });
  }

  #linesOf(path: string): readonly string[] {
    const file = readRegular(join(this.#root, path));
    return (file && linesOf(file)) ?? [];
  }

  async #entryOf(path: string, { bytes, ...file }: FileRead): Promise<IndexedFile> {
    const entry = await entryOf(path, bytes, this.#parses);
    return { ...entry, ...file, bytes: bytes.length };
  }

  #put(file: IndexedFile): void {
    const { path, stamp, hash, bytes } = file;
    const id = this.#store.put(file);
    this.#files.set(path, { id, stamp, hash, bytes });
    this.#ranked.set(id, { path, kind: kindOfPath(path), bytes });
  }

  #stamp(path: string, stamp: string): void {
    const known = this.#files.get(path);
    if (!known) return;
    this.#store.setStamp(known.id, stamp);
    this.#files.set(path, { ...known, stamp });
  }

  #forget(path: string): void {
    const known = this.#files.get(path);
    if (!known) return;
    this.#store.remove(known.id);
    this.#files.delete(path);
    this.#ranked.delete(known.id);
  }
}

interface Nearest extends Pick<Query, 'question' | 'fileWith'> {
  /** These count in any case. */
  readonly byWords: Ranking;
  /** The nearest chunks that count beside them. */
  readonly most: number;
}

interface Comparison {
  readonly changed: readonly string[];
  /** All that belong into the index. */
  readonly kept: ReadonlySet<string>;
  readonly leftOut: number;
}

interface FileRead {
  readonly bytes: Uint8Array;
  readonly stamp: string;
  readonly hash: string;
}

/** Undefined for a file that has gone, may not be read, or is none. Not in the pool of threads, which takes longer. */
function readRegular(path: string): FileRead | undefined {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    return readOpened(openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), path);
  } catch {
    return undefined;
  }
}

/** Closes the file. Never waits, and never reads more than the size that the file had. */
function readOpened(descriptor: number, path: string): FileRead | undefined {
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > INDEX_LIMITS.maxFileBytes) return undefined;
    if (!isAt(descriptor, fromText(path))) return undefined;
    const isTrusted = isSettled(stats, Date.now(), TREE_LIMITS.contentSettledMs);
    const buffer = Buffer.alloc(stats.size);
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
    return { bytes, stamp: isTrusted ? stampText(stats) : '', hash: sha256(bytes) };
  } finally {
    closeSync(descriptor);
  }
}

/** Undefined for what is no regular file. */
function statOf(path: string): Stats | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? stats : undefined;
  } catch {
    return undefined; // A folder on the way cannot be entered, or is none.
  }
}
