/**
 * Reads a table of an SQLite file, which Node can do by itself only from version 22.13 on. The format is at
 * https://www.sqlite.org/fileformat2.html; the write-ahead log in its section 4.
 */
import { existsSync, readFileSync } from 'node:fs';

/** A stored value. Integers beyond 2^53 lose their last digits. */
export type SqliteValue = null | number | string | Buffer;

/** A number stands for the page with that number; the first page is 1. */
type Pages = (page: number) => Buffer;

/**
 * The rows of a table, each with the values that are stored for it, in the order of their columns; those of a table
 * without rowid begin with the columns of its key. Empty if there is no such table. No process may write to the file.
 * @throws if the file is damaged, its text is not UTF-8, or a row is so long that it goes on in pages of its own.
 */
export function readSqliteTable(path: string, table: string): SqliteValue[][] {
  const pages = openPages(path);
  if (!pages) return [];
  const schema = rowsBelow(pages, SCHEMA_PAGE);
  const [, , , root] = schema.find(([type, name]) => type === 'table' && name === table) ?? [];
  return typeof root === 'number' ? rowsBelow(pages, root) : [];
}

const SCHEMA_PAGE = 1;
const FILE_HEADER_BYTES = 100;

/** Undefined if nothing was ever stored. Pages of the write-ahead log stand for those of the file. */
function openPages(path: string): Pages | undefined {
  const file = readFileSync(path);
  const log = existsSync(`${path}-wal`) ? readLog(readFileSync(`${path}-wal`)) : NO_LOG;
  if (file.length < FILE_HEADER_BYTES && log.pages.size === 0) return undefined;
  const size = log.pageBytes || pageBytesOf(file.readUInt16BE(16));
  return (page) => {
    const found = log.pages.get(page) ?? file.subarray((page - 1) * size, page * size);
    if (found.length !== size) throw new RangeError(`${path} has no page ${page}`);
    return found;
  };
}

/** The field has 16 bits, and 1 stands for 65,536. */
function pageBytesOf(field: number): number {
  return field === 1 ? 65_536 : field;
}

interface Log {
  readonly pageBytes: number;
  readonly pages: ReadonlyMap<number, Buffer>;
}

const NO_LOG: Log = { pageBytes: 0, pages: new Map() };
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * The newest committed form of each page in a write-ahead log. The log ends where a frame's salts or checksum are not
 * those of this log: a process was killed while it wrote that frame, or the frame is left over from an older log.
 */
function readLog(log: Buffer): Log {
  if (log.length < LOG_HEADER_BYTES) return NO_LOG;
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1;
  const pageBytes = log.readUInt32BE(8);
  let sum = addToSum([0, 0], log.subarray(0, 24), isBigEndian);
  if (!hasSum(log.subarray(24), sum)) return NO_LOG;
  const salts = log.subarray(16, 24);
  const pages = new Map<number, Buffer>();
  let uncommitted: [number, Buffer][] = [];
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  for (let at = LOG_HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    const header = log.subarray(at, at + FRAME_HEADER_BYTES);
    const page = log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    sum = addToSum(addToSum(sum, header.subarray(0, 8), isBigEndian), page, isBigEndian);
    if (!header.subarray(8, 16).equals(salts) || !hasSum(header.subarray(16), sum)) break;
    uncommitted.push([header.readUInt32BE(0), page]);
    const isCommit = header.readUInt32BE(4) !== 0;
    if (!isCommit) continue;
    for (const [number, content] of uncommitted) pages.set(number, content);
    uncommitted = [];
  }
  return { pageBytes, pages };
}

type Sum = readonly [number, number];

function hasSum(field: Buffer, [first, second]: Sum): boolean {
  return field.readUInt32BE(0) === first && field.readUInt32BE(4) === second;
}

/** The log's checksum, continued over these bytes, eight at a time. */
function addToSum([first, second]: Sum, bytes: Buffer, isBigEndian: boolean): Sum {
  const wordAt = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  let [one, two] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + wordAt(at) + two) >>> 0;
    two = (two + wordAt(at + 4) + one) >>> 0;
  }
  return [one, two];
}

/** By a B-tree page's first byte: whether it has pages below it, and whether it belongs to a table with rowids. */
const PAGE_KINDS: Readonly<Record<number, { hasChildren: boolean; hasRowids: boolean }>> = {
  2: { hasChildren: true, hasRowids: false },
  5: { hasChildren: true, hasRowids: true },
  10: { hasChildren: false, hasRowids: false },
  13: { hasChildren: false, hasRowids: true },
};

/** The rows of a B-tree, in the order of its keys. `seen` has the pages that were read: a damaged tree may be a circle. */
function rowsBelow(pages: Pages, number: number, seen = new Set<number>()): SqliteValue[][] {
  const page = pages(number);
  const start = number === SCHEMA_PAGE ? FILE_HEADER_BYTES : 0;
  const kind = PAGE_KINDS[page.readUInt8(start)];
  if (!kind || seen.has(number)) throw new RangeError(`page ${number} is not one of this table`);
  seen.add(number);
  const { hasChildren, hasRowids } = kind;
  const cells = start + (hasChildren ? 12 : 8);
  const rows: SqliteValue[][] = [];
  const enter = (pointerAt: number) => {
    for (const row of rowsBelow(pages, page.readUInt32BE(pointerAt), seen)) rows.push(row);
  };
  for (let cell = 0; cell < page.readUInt16BE(start + 3); cell++) {
    const at = page.readUInt16BE(cells + 2 * cell);
    if (hasChildren) enter(at);
    // A table with rowids has its rows only in the pages without children.
    if (hasChildren && hasRowids) continue;
    rows.push(rowAt(page, at + (hasChildren ? 4 : 0), hasRowids));
  }
  if (hasChildren) enter(start + 8);
  return rows;
}

function rowAt(page: Buffer, at: number, hasRowid: boolean): SqliteValue[] {
  const reader = new RecordReader(page, at);
  const bytes = reader.readVarint();
  if (hasRowid) reader.readVarint();
  // What a page may hold of one row at most; section 1.6 of the format. The pages have no reserved bytes.
  const most = hasRowid ? page.length - 35 : Math.floor(((page.length - 12) * 64) / 255) - 23;
  if (bytes > most) throw new RangeError('a row goes on in pages of its own');
  return reader.readRecord();
}

/** Reads one row: the types of its values, then the values. */
class RecordReader {
  readonly #page: Buffer;
  #at: number;

  constructor(page: Buffer, at: number) {
    this.#page = page;
    this.#at = at;
  }

  /** Seven bits a byte, the highest first; the ninth byte has eight. */
  readVarint(): number {
    let value = 0;
    for (let bytes = 1; bytes <= 9; bytes++) {
      const byte = this.#page.readUInt8(this.#at++);
      if (bytes === 9) return value * 256 + byte;
      value = value * 128 + (byte & 127);
      if (byte < 128) break;
    }
    return value;
  }

  readRecord(): SqliteValue[] {
    const start = this.#at;
    const end = start + this.readVarint();
    const types: number[] = [];
    while (this.#at < end) types.push(this.readVarint());
    return types.map((type) => this.#readValue(type));
  }

  #readValue(type: number): SqliteValue {
    if (type === 0) return null;
    if (type === 7) return this.#take(8).readDoubleBE();
    if (type === 8 || type === 9) return type - 8;
    const bytes = type < 8 ? (INTEGER_BYTES[type] ?? 0) : Math.floor((type - 12) / 2);
    const value = this.#take(bytes);
    if (type === 6) return Number(value.readBigInt64BE());
    if (type < 6) return value.readIntBE(0, bytes);
    return type % 2 === 1 ? value.toString('utf8') : Buffer.from(value);
  }

  #take(bytes: number): Buffer {
    const value = this.#page.subarray(this.#at, this.#at + bytes);
    if (value.length !== bytes) throw new RangeError('a value goes beyond its page');
    this.#at += bytes;
    return value;
  }
}

/** By the type of an integer. */
const INTEGER_BYTES: readonly number[] = [0, 1, 2, 3, 4, 6, 8];
