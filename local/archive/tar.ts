/**
 * Reads and writes tar archives: the "pax interchange format" of POSIX.1-2024 (pax(1)), as far as a state folder needs
 * it. Files, folders and symbolic links; no owners and no times.
 */
import { createHash, type Hash } from 'node:crypto';
import { LocalError } from '../../machine/local-error.ts';

export interface TarEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string;
  readonly type: 'file' | 'folder' | 'link';
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of the content; 0 for what is no file. */
  readonly bytes: number;
  /** Where a link leads. */
  readonly target?: string;
}

/** The blocks before an entry's content. */
export function tarHeader(entry: TarEntry): Buffer {
  const { path, target = '' } = entry;
  const long = { ...(!fits(path) && { path }), ...(!fits(target) && { linkpath: target }) };
  const records = Buffer.concat(Object.entries(long).map(paxRecord));
  const main = headerBlock(entry, TYPES[entry.type]);
  if (records.length === 0) return main;
  const pax = { path: 'pax', type: 'file', mode: 0o600, bytes: records.length } as const;
  return Buffer.concat([headerBlock(pax, PAX), records, padding(records.length), main]);
}

/** The bytes between a content and the next header. */
export function padding(bytes: number): Buffer {
  return Buffer.alloc(-bytes & (BLOCK - 1));
}

/** Stands behind the last entry. */
export const TAR_END: Buffer = Buffer.alloc(1024);

export interface ReadEntry extends TarEntry {
  /** Must be read to its end before the next entry is asked for. */
  readonly content: AsyncIterable<Buffer>;
  /** The SHA-256 of the archive's bytes before this entry, in hexadecimal digits. */
  readonly digestBefore: () => string;
}

/** @throws {LocalError} if the archive is cut short or is no archive of {@link tarHeader}. */
export async function* readTar(source: ByteSource): AsyncGenerator<ReadEntry, void> {
  for (;;) {
    const before = source.digestSoFar();
    let block = await source.take(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    let long: Readonly<Record<string, string>> = {};
    if (typeOf(block) === PAX) {
      long = parsePax(await takePadded(source, sizeOf(block)));
      block = await source.take(BLOCK);
    }
    const entry = parseHeader(block, long);
    const digestBefore = () => before.digest('hex');
    yield { ...entry, digestBefore, content: contentOf(source, entry.bytes) };
    await source.take(padding(entry.bytes).length);
  }
}

/** The bytes of a stream, in pieces of any size. */
export class ByteSource {
  readonly #stream: AsyncIterator<Buffer>;
  readonly #digest = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#stream = stream[Symbol.asyncIterator]();
  }

  /** The SHA-256 of the bytes taken so far. */
  digestSoFar(): Hash {
    return this.#digest.copy();
  }

  /** Exactly so many bytes. @throws {LocalError} if the stream ends before. */
  async take(bytes: number): Promise<Buffer> {
    while (this.#rest.length < bytes) {
      if (!(await this.#readOn())) throw damaged('it ends too early');
    }
    return this.#pass(bytes);
  }

  /** At least one byte and at most so many. @throws {LocalError} at the end of the stream. */
  async takeSome(atMost: number): Promise<Buffer> {
    while (this.#rest.length === 0) if (!(await this.#readOn())) throw damaged('it ends too early');
    return this.#pass(Math.min(atMost, this.#rest.length));
  }

  /** Reads on to the end, so that a stream that checks itself has done so. @throws {LocalError} if content follows. */
  async end(): Promise<void> {
    do {
      if (this.#rest.some((byte) => byte !== 0)) throw damaged('something follows its end');
      this.#rest = Buffer.alloc(0);
    } while (await this.#readOn());
  }

  #pass(bytes: number): Buffer {
    const passed = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    this.#digest.update(passed);
    return passed;
  }

  async #readOn(): Promise<boolean> {
    const { done, value } = await this.#stream.next();
    if (done) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}

/** The refusal of an archive, which names no file: the caller knows it. */
export function damaged(why: string): LocalError {
  return new LocalError('refused', `This is no whole backup: ${why}.`);
}

const BLOCK = 512;
const TYPES = { file: '0', link: '2', folder: '5' } as const;
const PAX = 'x';
/** Without setuid and its like: a restore must make no program that runs as its owner. */
const PERMISSIONS = 0o777;
/** The names of an archive, with those of a long path: more than any file system takes. */
const MAX_PAX_BYTES = 64 * 1024;

/** Offsets and lengths of the fields of a header (ustar). */
const FIELD = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  time: [136, 12],
  sum: [148, 8],
  type: [156, 1],
  link: [157, 100],
  magic: [257, 8],
} as const;

function fits(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && text.length < FIELD.name[1];
}

function headerBlock(entry: TarEntry, type: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = (field: keyof typeof FIELD, text: string) =>
    block.write(text.slice(0, FIELD[field][1]), FIELD[field][0], 'latin1');
  const octal = (field: keyof typeof FIELD, value: number) =>
    put(field, `${value.toString(8).padStart(FIELD[field][1] - 1, '0')}\0`);
  put('name', fits(entry.path) ? entry.path : 'long');
  octal('mode', entry.mode);
  for (const field of ['uid', 'gid', 'time'] as const) octal(field, 0);
  octal('size', entry.bytes);
  put('type', type);
  put('link', fits(entry.target ?? '') ? (entry.target ?? '') : 'long');
  put('magic', 'ustar\x0000');
  put('sum', `${sumOf(block).toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** The sum of a header's bytes, with spaces in its own place. */
function sumOf(block: Buffer): number {
  const [start, length] = FIELD.sum;
  return block.reduce((sum, byte, at) => sum + (at >= start && at < start + length ? 32 : byte), 0);
}

/** `<length> <key>=<value>\n`; the length counts itself. */
function paxRecord([key, value]: [string, string]): Buffer {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const digits = String(bytes + String(bytes).length).length;
  return Buffer.from(`${bytes + digits}${rest}`);
}

function parsePax(records: Buffer): Record<string, string> {
  const found: Record<string, string> = {};
  for (let rest = records; rest.length > 0; ) {
    const length = Number(rest.subarray(0, Math.max(0, rest.indexOf(' '))).toString());
    const record = /^\d+ (\w+)=(.*)\n$/s.exec(rest.subarray(0, length).toString());
    if (!record || length === 0) throw damaged('a name in it is damaged');
    found[record[1] ?? ''] = record[2] ?? '';
    rest = rest.subarray(length);
  }
  return found;
}

function parseHeader(block: Buffer, long: Readonly<Record<string, string>>): TarEntry {
  const type = Object.entries(TYPES).find(([, flag]) => flag === typeOf(block))?.[0];
  const isSound = octalIn(block, 'sum') === sumOf(block) && textIn(block, 'magic') === 'ustar';
  if (!isSound || type === undefined) throw damaged('something in it is no part of a backup');
  return {
    path: long['path'] ?? textIn(block, 'name'),
    type: type as TarEntry['type'],
    mode: octalIn(block, 'mode') & PERMISSIONS,
    bytes: sizeOf(block),
    ...(type === 'link' && { target: long['linkpath'] ?? textIn(block, 'link') }),
  };
}

function textIn(block: Buffer, field: keyof typeof FIELD): string {
  const [start, length] = FIELD[field];
  const bytes = block.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end === -1 ? length : end).toString('latin1');
}

function octalIn(block: Buffer, field: keyof typeof FIELD): number {
  return Number.parseInt(textIn(block, field).trim() || '0', 8);
}

function typeOf(block: Buffer): string {
  return textIn(block, 'type');
}

function sizeOf(block: Buffer): number {
  const size = octalIn(block, 'size');
  if (!Number.isSafeInteger(size) || size < 0) throw damaged('a length in it is damaged');
  return size;
}

async function takePadded(source: ByteSource, bytes: number): Promise<Buffer> {
  if (bytes > MAX_PAX_BYTES) throw damaged('a name in it is too long');
  const content = await source.take(bytes);
  await source.take(padding(bytes).length);
  return content;
}

async function* contentOf(source: ByteSource, bytes: number): AsyncGenerator<Buffer, void> {
  for (let left = bytes; left > 0; ) {
    const piece = await source.takeSome(left);
    left -= piece.length;
    yield piece;
  }
}
