/** The database of an index: files with their stamps, their chunks, and the words of each chunk. */
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Database, Sqlite, Statement } from '../../machine/sqlite.ts';
import { INDEX_LIMITS } from './limits.ts';

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
}

/** The id of a chunk has that of its file in it. */
export type ChunkId = number;

const CHUNKS_OF_FILE = 1_024;

/** The id of the chunk's file. */
export function fileOf(chunk: ChunkId): number {
  return Math.floor(chunk / CHUNKS_OF_FILE);
}

/** A word of the index, and in how many chunks it is. */
export interface CountedWord {
  readonly word: string;
  readonly count: number;
}

/** Changes with the tables, and with how texts become chunks and words. */
const FORM = 1;

/** Only the thread of the index uses it. Every method may throw an error of SQLite: the index is then made again. */
export class Store {
  readonly #database: Database;
  readonly #known = new Map<string, Statement>();
  /** What `wordsLike` has counted since the last write: to count takes as long as to find. */
  readonly #counted = new Map<string, readonly CountedWord[]>();

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
    return Number(this.#get('SELECT count(*) AS count FROM chunks').get()?.['count']);
  }

  /** Does the writes of `work` together, or none. */
  inOneStep(work: () => void): void {
    this.#counted.clear();
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
    for (const [index, { start, end, names, body }] of chunks.entries()) {
      this.#get('INSERT INTO chunks VALUES (?, ?, ?)').run(first + index, start, end);
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

  /** The chunks with the word, each with its score, which is better the lower it is. */
  chunksWith(word: string): (readonly [ChunkId, score: number])[] {
    const rows = this.#get(`${SCORES} LIMIT ?`).all(quote(word), INDEX_LIMITS.maxRows);
    return rows.map((row) => [Number(row['rowid']), Number(row['score'])]);
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
const SCORES = `SELECT rowid, bm25(words, ${WEIGHTS}) AS score FROM words WHERE words MATCH ?`;

function quote(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
}

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
CREATE TABLE chunks (id INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(path, names, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
`;
