/** The database of an index: files with their stamps, their chunks, and the words of each chunk. */
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Database, Sqlite, Statement } from '../../machine/sqlite.ts';
import { INDEX_LIMITS } from './limits.ts';
import { packed, type StoredVector } from './vectors.ts';

/** A file as the index has it. `stamp` is empty where the file must be read again. */
export interface KnownFile {
  readonly id: number;
  readonly stamp: string;
  readonly hash: string;
  readonly bytes: number;
}

/** A file with its chunks. */
export interface IndexedFile {
  readonly path: string;
  readonly stamp: string;
  readonly hash: string;
  readonly bytes: number;
  readonly words: string;
  readonly chunks: readonly IndexedChunk[];
}

export interface IndexedChunk {
  readonly start: number;
  readonly end: number;
  readonly names: string;
  readonly body: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
}

/** The vector of a text. */
export interface NewVector {
  readonly hash: string;
  readonly numbers: Float32Array;
}

export interface VectorCount {
  readonly chunks: number;
  readonly without: number;
}

/** A chunk without a vector. Lines as in {@link IndexedChunk}. */
export interface BareChunk {
  readonly id: ChunkId;
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly hash: string;
}

/** The id of a chunk has that of its file in it. */
export type ChunkId = number;

const CHUNKS_OF_FILE = 1_024;

/** The id of the chunk's file. */
export function fileOf(chunk: ChunkId): number {
  return Math.floor(chunk / CHUNKS_OF_FILE);
}

/** A score is better the lower it is. */
export interface WordHit {
  readonly id: ChunkId;
  readonly score: number;
}

/** A word of the index, and in how many chunks it is. */
export interface CountedWord {
  readonly word: string;
  readonly count: number;
}

/** Changes with the tables, and with how texts become chunks and words. */
const FORM = 2;

/** Only the thread of the index uses it. Every method may throw an error of SQLite: the index is then made again. */
export class Store {
  readonly #database: Database;
  readonly #known = new Map<string, Statement>();
  /** What has been counted since the last write: to count takes as long as to find. */
  readonly #counted = new Map<string, readonly CountedWord[]>();
  #chunkCount: number | undefined;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Opens the index of a workspace. A damaged one, or one of another workspace or form, is replaced by an empty one. */
  static open({ DatabaseSync }: Sqlite, path: string, root: string): Store {
    const meta = { form: String(FORM), root };
    try {
      const store = new Store(openDatabase(DatabaseSync, path));
      if (isDeepStrictEqual(store.#readMeta(), meta)) return store;
      store.close();
    } catch {
      // Damaged, or no database at all.
    }
    removeIndex(path);
    const store = new Store(openDatabase(DatabaseSync, path));
    store.#database.exec(SCHEMA);
    for (const [key, value] of Object.entries(meta)) {
      store.#get('INSERT INTO meta VALUES (?, ?)').run(key, value);
    }
    return store;
  }

  /** By path. */
  files(): Map<string, KnownFile> {
    const rows = this.#get('SELECT path, id, stamp, hash, bytes FROM files').all();
    return new Map(
      (rows as unknown as (KnownFile & { path: string })[]).map((row) => [row.path, row]),
    );
  }

  get chunkCount(): number {
    this.#chunkCount ??= Number(this.#get('SELECT count(*) AS count FROM chunks').get()?.['count']);
    return this.#chunkCount;
  }

  /** Does the writes of `work` together, or none. */
  inOneStep(work: () => void): void {
    this.#counted.clear();
    this.#chunkCount = undefined;
    this.#database.exec('BEGIN');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Returns the file's id. */
  put({ path, stamp, hash, bytes, words, chunks }: IndexedFile): number {
    const { lastInsertRowid } = this.#get(
      'INSERT INTO files (path, stamp, hash, bytes) VALUES (?, ?, ?, ?)',
    ).run(path, stamp, hash, bytes);
    const first = Number(lastInsertRowid) * CHUNKS_OF_FILE;
    for (const [index, { start, end, names, body, hash }] of chunks.entries()) {
      const bytes = Buffer.from(hash, 'hex');
      this.#get('INSERT INTO chunks VALUES (?, ?, ?, ?)').run(first + index, start, end, bytes);
      this.#get('INSERT INTO words (rowid, path, names, body) VALUES (?, ?, ?, ?)').run(
        first + index,
        words,
        names,
        body,
      );
    }
    return Number(lastInsertRowid);
  }

  setStamp(id: number, stamp: string): void {
    this.#get('UPDATE files SET stamp = ? WHERE id = ?').run(stamp, id);
  }

  remove(id: number): void {
    const chunks = [id * CHUNKS_OF_FILE, (id + 1) * CHUNKS_OF_FILE] as const;
    this.#get(
      'DELETE FROM words WHERE rowid IN (SELECT id FROM chunks WHERE id >= ? AND id < ?)',
    ).run(...chunks);
    this.#get('DELETE FROM chunks WHERE id >= ? AND id < ?').run(...chunks);
    this.#get('DELETE FROM files WHERE id = ?').run(id);
  }

  /** The word, and with `isBeginning` the most frequent words that begin like it, with the number of their chunks. */
  wordsLike(word: string, isBeginning: boolean): readonly CountedWord[] {
    const key = `${word}${isBeginning ? '*' : ''}`;
    const known = this.#counted.get(key) ?? this.#countWordsLike(word, isBeginning);
    if (this.#counted.size === INDEX_LIMITS.maxCounted) this.#counted.clear();
    this.#counted.set(key, known);
    return known;
  }

  /** The chunks with the word. */
  chunksWith(word: string): readonly WordHit[] {
    const rows = this.#get(`${SCORES} LIMIT ?`).all(quote(word), INDEX_LIMITS.maxRows);
    return rows as unknown as WordHit[];
  }

  /** Whether one chunk has the word. Its score would take as long as those of all chunks. */
  has(chunk: ChunkId, word: string): boolean {
    const found = this.#get('SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?');
    return found.get(quote(word), chunk) !== undefined;
  }

  linesOf(chunk: ChunkId): { readonly start: number; readonly end: number } | undefined {
    const row = this.#get('SELECT start, end FROM chunks WHERE id = ?').get(chunk);
    return row && { start: Number(row['start']), end: Number(row['end']) };
  }

  /** Makes place for the vectors of an embedder: those of another one go. */
  useEmbedder(embedder: string): void {
    if (this.#embedder?.name === embedder) return;
    this.inOneStep(() => {
      this.#forgetVectors();
      this.#get('INSERT INTO embedder VALUES (?, 0)').run(embedder);
    });
  }

  /** Whether there are vectors of this embedder, and whether they have this length. */
  hasVectors(embedder: string, dimensions: number): 'yes' | 'no' | 'other' {
    const known = this.#embedder;
    if (known?.name !== embedder || known.dimensions === 0) return 'no';
    return known.dimensions === dimensions ? 'yes' : 'other';
  }

  forgetVectors(): void {
    this.inOneStep(() => this.#forgetVectors());
  }

  /** In one step. All have the same length. */
  putVectors(vectors: readonly NewVector[]): void {
    this.inOneStep(() => {
      for (const { hash, numbers } of vectors) {
        const { scale, bytes } = packed(numbers);
        this.#get('INSERT OR IGNORE INTO vectors (hash, scale, numbers) VALUES (?, ?, ?)').run(
          ...[Buffer.from(hash, 'hex'), scale, bytes],
        );
      }
      const { length = 0 } = vectors[0]?.numbers ?? {};
      this.#get('UPDATE embedder SET dimensions = ?').run(length);
    });
  }

  countVectors(): VectorCount {
    const without = Number(this.#get(`SELECT count(*) AS count ${BARE}`).get()?.['count']);
    return { chunks: this.chunkCount, without };
  }

  /** In the order of their ids, from behind `after` on. */
  bareChunks(after: ChunkId, limit: number): BareChunk[] {
    const rows = this.#get(
      `SELECT chunks.id, start, end, lower(hex(chunks.hash)) AS hash, path ${BARE} AND chunks.id > ?
       ORDER BY chunks.id LIMIT ?`,
    ).all(after, limit);
    return rows as unknown as BareChunk[];
  }

  /** Without a chunk, but for the newest ones. */
  pruneVectors(): void {
    const { count } = this.#get(`SELECT count(*) AS count ${SPARE}`).get() ?? {};
    const spare = Number(count) - INDEX_LIMITS.maxSpareVectors;
    if (spare <= 0) return;
    this.#get(
      `DELETE FROM vectors WHERE id IN (SELECT vectors.id ${SPARE} ORDER BY vectors.id LIMIT ?)`,
    ).run(spare);
  }

  /** All vectors, in pages: they would take too much memory at once. */
  *vectorPages(): Generator<readonly StoredVector[]> {
    const next = this.#get(
      'SELECT id, scale, numbers FROM vectors WHERE id > ? ORDER BY id LIMIT ?',
    );
    let after = 0;
    for (;;) {
      const page = next.all(after, INDEX_LIMITS.vectorPage) as unknown as StoredVector[];
      if (page.length === 0) return;
      yield page;
      after = page.at(-1)?.id ?? 0;
    }
  }

  /** The chunks with this vector: texts can be the same. */
  chunksOfVector(id: number): ChunkId[] {
    const rows = this.#get(
      'SELECT chunks.id FROM vectors JOIN chunks ON chunks.hash = vectors.hash WHERE vectors.id = ?',
    ).all(id);
    return rows.map((row) => Number(row['id']));
  }

  /** The id of the chunk's vector. */
  vectorOf(chunk: ChunkId): number | undefined {
    const row = this.#get(
      'SELECT vectors.id FROM vectors JOIN chunks ON chunks.hash = vectors.hash WHERE chunks.id = ?',
    ).get(chunk);
    return row && Number(row['id']);
  }

  get #embedder(): { readonly name: string; readonly dimensions: number } | undefined {
    const row = this.#get('SELECT name, dimensions FROM embedder').get();
    return row && { name: String(row['name']), dimensions: Number(row['dimensions']) };
  }

  #forgetVectors(): void {
    this.#get('DELETE FROM vectors').run();
    this.#get('DELETE FROM embedder').run();
  }

  #countWordsLike(word: string, isBeginning: boolean): CountedWord[] {
    const sql = 'SELECT term AS word, doc AS count FROM vocabulary WHERE';
    const end = `${word}\u{10ffff}`;
    const rows = this.#get(`${sql} term = ?`).all(word);
    const longer = isBeginning
      ? this.#get(`${sql} term > ? AND term < ? ORDER BY doc DESC LIMIT ?`).all(
          ...[word, end, INDEX_LIMITS.maxBeginnings],
        )
      : [];
    return [...rows, ...longer].map((row) => ({
      word: String(row['word']),
      count: Number(row['count']),
    }));
  }

  close(): void {
    this.#database.close();
  }

  #readMeta(): Record<string, unknown> {
    const rows = this.#get('SELECT key, value FROM meta').all();
    return Object.fromEntries(rows.map((row) => [row['key'], row['value']]));
  }

  #get(sql: string): Statement {
    const known = this.#known.get(sql) ?? this.#database.prepare(sql);
    this.#known.set(sql, known);
    return known;
  }
}

/** What a word in the path, in a name that the chunk defines, and in its text counts for. */
const WEIGHTS = '3, 5, 1';
const SCORES = `SELECT rowid AS id, bm25(words, ${WEIGHTS}) AS score FROM words WHERE words MATCH ?`;

function quote(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
}

const BARE = `FROM chunks JOIN files ON files.id = chunks.id / ${CHUNKS_OF_FILE}
  WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.hash = chunks.hash)`;
const SPARE = `FROM vectors
  WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.hash = vectors.hash)`;

function openDatabase(open: Sqlite['DatabaseSync'], path: string): Database {
  // SQLite makes its other files with the rights of this one.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new open(path);
  try {
    // A lost index is made again, so nothing waits for the disk.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -${INDEX_LIMITS.cacheKib}`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Deletes the database with everything that SQLite has put beside it. */
export function removeIndex(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true });
}

const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, hash TEXT NOT NULL, bytes INTEGER NOT NULL
);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL, hash BLOB NOT NULL
);
CREATE INDEX chunks_by_hash ON chunks (hash);
CREATE TABLE embedder (name TEXT NOT NULL, dimensions INTEGER NOT NULL);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scale REAL NOT NULL, numbers BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(path, names, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
`;
