/**
 * The archive of a state folder: a tar file, gzipped if its name ends in `.gz` or `.tgz`. Its first entry says what it
 * is, its last one is the digest of everything before it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  constants,
  createReadStream,
  createWriteStream,
  type ReadStream,
  type Stats,
} from 'node:fs';
import { access, lstat, readdir, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, constants as zlib } from 'node:zlib';
import * as z from 'zod';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { ByteSource, damaged, padding, readTar, TAR_END, type TarEntry, tarHeader } from './tar.ts';

/** The first entry of an archive. */
export const ArchiveHead = z.object({
  /** Raised when an older program can no longer read an archive. */
  archive: z.literal(1),
  /** The format of the state in it: see local/state/format.ts. */
  format: z.int().nonnegative(),
  /** The version of Drawbridge that wrote it. */
  writtenBy: z.string(),
  /** Epoch milliseconds. */
  createdMs: z.int().nonnegative(),
});
export type ArchiveHead = z.infer<typeof ArchiveHead>;

/**
 * What no archive has of a state's folder, or of a project's folder in it: what each start makes anew, what belongs to
 * a running process, logs, other archives, and the worktrees, whose commits are in the person's own repository.
 */
const LEFT_OUT = /^(build|logs|backups|worktrees|instance\.json|lock|.*\.(lock|tmp|sock|upgrade))$/;
/** The folders that LEFT_OUT is about. Others can hold files of the person with any name. */
const OWN_FOLDERS = /^(projects\/[^/]+)?$/;
/** SQLite makes its index of a write-ahead log again. */
const INDEX = /^storage\/.*-shm$/;

/** What commands made, with the modes that they gave it: see bridge/quarantine/. */
const IN_QUARANTINE = /^(projects\/[^/]+\/)?quarantine\//;

function isLeftOut(folder: string, name: string): boolean {
  return (OWN_FOLDERS.test(folder) && LEFT_OUT.test(name)) || INDEX.test(`${folder}/${name}`);
}

/**
 * Writes the archive of a folder that does not change meanwhile. The file appears whole or not at all, for its owner
 * only: keys are in it.
 */
export async function writeArchive(file: string, folder: string, head: ArchiveHead): Promise<void> {
  const partial = `${file}.${randomUUID()}.partial`;
  const zipped = /\.t?gz$/.test(file) ? [createGzip({ level: zlib.Z_BEST_SPEED })] : [];
  try {
    const target = createWriteStream(partial, { flags: 'wx', mode: PRIVATE_FILE, flush: true });
    await pipeline([Readable.from(archiveOf(folder, head)), ...zipped, target]);
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

async function* archiveOf(folder: string, head: ArchiveHead): AsyncGenerator<Buffer, void> {
  const digest = createHash('sha256');
  const text = (path: string, content: string) => {
    const bytes = Buffer.from(content);
    const header = tarHeader({ path, type: 'file', mode: PRIVATE_FILE, bytes: bytes.length });
    return Buffer.concat([header, bytes, padding(bytes.length)]);
  };
  for await (const piece of piecesOf(text(HEAD_PATH, JSON.stringify(head)), folder)) {
    digest.update(piece);
    yield piece;
  }
  yield text(DIGEST_PATH, digest.digest('hex'));
  yield TAR_END;
}

async function* piecesOf(head: Buffer, folder: string): AsyncGenerator<Buffer, void> {
  yield head;
  for await (const entry of entriesIn(folder)) {
    yield tarHeader({ ...entry, path: `${STATE_PATH}${entry.path}` });
    if (entry.type !== 'file') continue;
    yield* contentOf(join(folder, entry.path), entry.bytes);
    yield padding(entry.bytes);
  }
}

/** What an archive takes of a folder, folders before what they hold. Leaves out sockets, pipes and devices. */
export async function* entriesIn(folder: string, below = ''): AsyncGenerator<TarEntry, void> {
  for (const name of (await readdir(join(folder, below))).sort()) {
    if (isLeftOut(below, name)) continue;
    const path = below === '' ? name : `${below}/${name}`;
    const stats = await lstat(join(folder, path)).catch(unlessGone);
    if (!stats) continue;
    const mode = stats.mode & PERMISSIONS;
    if (IN_QUARANTINE.test(path) && !(await isOpen(join(folder, path), stats))) continue;
    if (stats.isFile()) yield { path, type: 'file', mode, bytes: stats.size };
    if (stats.isSymbolicLink()) {
      const target = await readlink(join(folder, path));
      yield { path, type: 'link', mode, bytes: 0, target };
    }
    if (!stats.isDirectory()) continue;
    yield { path, type: 'folder', mode, bytes: 0 };
    yield* entriesIn(folder, path);
  }
}

/** A command may have closed what it made to its owner: that must keep no state from being saved. */
async function isOpen(path: string, stats: Stats): Promise<boolean> {
  if (stats.isSymbolicLink()) return true;
  const wanted = stats.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK;
  return await access(path, wanted).then(
    () => true,
    () => false,
  );
}

function unlessGone(error: unknown): undefined {
  if (!isSystemError(error, 'ENOENT')) throw error;
}

async function* contentOf(path: string, bytes: number): AsyncGenerator<Buffer, void> {
  if (bytes === 0) return;
  let read = 0;
  for await (const piece of createReadStream(path, { end: bytes - 1 })) {
    read += piece.length;
    yield piece;
  }
  if (read < bytes) throw new Error(`${path} became shorter while it was read`);
}

/** Takes the entries of an archive, in its order. */
export interface Unpacking {
  /** The archive's first entry. May throw, to refuse it. */
  begin(head: ArchiveHead): void;
  /** `path` is relative and leads to a place inside. The content must be read to its end. */
  take(entry: TarEntry, content: AsyncIterable<Buffer>): Promise<void>;
}

/**
 * Reads an archive. When it returns, the archive was whole and unchanged.
 * @throws {LocalError} if the archive is cut short, changed, or none of ours. What was taken must then be thrown away.
 */
export async function readArchive(file: string, unpacking: Unpacking): Promise<ArchiveHead> {
  const stream = createReadStream(file);
  try {
    const first = (await readFirst(stream)) ?? Buffer.alloc(0);
    stream.unshift(first);
    const bytes = first.indexOf(GZIP_MAGIC) === 0 ? stream.pipe(createGunzip()) : stream;
    stream.on('error', (error) => bytes.destroy(error));
    return await readEntries(new ByteSource(bytes), unpacking);
  } catch (error) {
    // What zlib says of a cut or changed file.
    const isOfZip = error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
    throw isOfZip ? damaged('it is cut short or was changed') : error;
  } finally {
    stream.destroy();
  }
}

async function readFirst(stream: ReadStream): Promise<Buffer | null> {
  await once(stream, 'readable');
  return stream.read();
}

async function readEntries(source: ByteSource, unpacking: Unpacking): Promise<ArchiveHead> {
  let head: ArchiveHead | undefined;
  let isWhole = false;
  for await (const { content, digestBefore, ...entry } of readTar(source)) {
    if (entry.path === HEAD_PATH) {
      head = parseHead(await textOf(entry, content));
      unpacking.begin(head);
      continue;
    }
    if (!head || isWhole) throw damaged('its parts are in no order of ours');
    if (entry.path === DIGEST_PATH) {
      if ((await textOf(entry, content)) !== digestBefore()) throw damaged('it was changed');
      isWhole = true;
      continue;
    }
    const path = entry.path.slice(STATE_PATH.length);
    const isOurs = entry.path.startsWith(STATE_PATH) && isInside(path);
    if (!isOurs) throw damaged('a path in it leads elsewhere');
    await unpacking.take({ ...entry, path }, content);
  }
  if (!head || !isWhole) throw damaged('it has no end');
  await source.end();
  return head;
}

function parseHead(text: string): ArchiveHead {
  const head = ArchiveHead.safeParse(parseJson(text));
  if (head.success) return head.data;
  throw damaged('it does not say what it is, or a later version of Drawbridge wrote it');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The schema refuses it.
  }
}

async function textOf({ bytes }: TarEntry, content: AsyncIterable<Buffer>): Promise<string> {
  if (bytes > MAX_TEXT_BYTES) throw damaged('its description is too long');
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Whether a path names a place below the folder that it is relative to. */
function isInside(path: string): boolean {
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
}

const HEAD_PATH = 'backup.json';
const DIGEST_PATH = 'backup.sha256';
const STATE_PATH = 'state/';
const PERMISSIONS = 0o777;
const MAX_TEXT_BYTES = 64 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
