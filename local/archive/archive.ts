/**
 * The archive of a state folder: a tar file, gzipped if its name ends in `.gz` or `.tgz`. Its first entry says what it
 * is, its last one is the digest of all names, modes and contents before it.
 */
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { constants, createReadStream, type Stats } from 'node:fs';
import { access, lstat, open, readdir, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, constants as zlib } from 'node:zlib';
import { type Extract, extract, type Header, type Pack, pack } from 'tar-stream';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { KIB } from '../../shared/units.ts';

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

export interface ArchiveEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string;
  readonly type: keyof typeof TYPES;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of the content; 0 for what is no file. */
  readonly bytes: number;
  /** Where a link leads. */
  readonly target?: string;
}

/** The names that tar-stream has for them. */
const TYPES = { file: 'file', folder: 'directory', link: 'symlink' } as const;

/**
 * What no archive has of a state's folder, or of a project's folder in it: what each start makes anew, what belongs to
 * a running process, open enrolments, logs, other archives, the worktrees, whose commits are in the person's own repository, and the
 * contents for undos: after a restore, ids of responses mean others, and the files are as they are.
 */
const LEFT_OUT =
  /^(build|logs|backups|checkpoints|worktrees|index\.sqlite.*|instance\.json|enrolments\.json|lock|.*\.(lock|tmp|sock|upgrade))$/;
/** The folders that LEFT_OUT is about. Others can hold files of the person with any name. */
const OWN_FOLDERS = /^(projects\/[^/]+)?$/;
/** SQLite makes its index of a write-ahead log again. */
const INDEX = /^storage\/.*-shm$/;

/** What commands made, with the modes that they gave it, which nothing follows or starts: see packages/sandbox/quarantine/. */
const IN_QUARANTINE = /^(projects\/[^/]+\/)?quarantine\//;

function isLeftOut(folder: string, name: string): boolean {
  return (OWN_FOLDERS.test(folder) && LEFT_OUT.test(name)) || INDEX.test(`${folder}/${name}`);
}

/**
 * Whether it is a link that leads out of the state, which a server would follow to read and write there. What commands
 * left in quarantine is never followed.
 */
export function leadsOut({ type, path, target = '' }: ArchiveEntry): boolean {
  if (type !== 'link' || IN_QUARANTINE.test(path)) return false;
  const up = /^(?:\.\.(?:\/|$))*/.exec(target)?.[0] ?? '';
  // A `..` behind a name could leave by a link of that name.
  const isDown = !target.startsWith('/') && !target.slice(up.length).split('/').includes('..');
  return !isDown || up.split('..').length > path.split('/').length;
}

/** Writes the archive of a folder that stands still. The file appears whole or not at all, for its owner only. */
export async function writeArchive(file: string, folder: string, head: ArchiveHead): Promise<void> {
  const partial = `${file}.${randomUUID()}.partial`;
  const zipped = /\.t?gz$/.test(file) ? [createGzip({ level: zlib.Z_BEST_SPEED })] : [];
  // The file is there before anything can fail, so that it is also there to be removed.
  const target = await open(partial, 'wx', PRIVATE_FILE);
  const archive = pack();
  try {
    const sink = target.createWriteStream({ flush: true });
    const written = pipeline([Readable.from(archive), ...zipped, sink]);
    const filled = fill(archive, folder, head).catch((error: Error) => {
      archive.destroy(error);
      throw error;
    });
    // A disk that is full ends both: its own words say more than those of a stream that was cut.
    const [, full] = await Promise.allSettled([filled, written]);
    if (full.status === 'rejected') throw full.reason;
    await filled;
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

async function fill(archive: Pack, folder: string, head: ArchiveHead): Promise<void> {
  const digest = createHash('sha256');
  const put = async (entry: ArchiveEntry, content: AsyncIterable<Buffer> | Buffer[]) =>
    await pipeline(content, archive.entry(headerOf(entry)));
  const text = (path: string, content: string) => {
    const bytes = Buffer.from(content);
    return put({ path, type: 'file', mode: PRIVATE_FILE, bytes: bytes.length }, [bytes]);
  };
  digest.update(JSON.stringify(head));
  await text(HEAD_PATH, JSON.stringify(head));
  for await (const entry of entriesIn(folder)) {
    addEntry(digest, entry);
    const named = { ...entry, path: `${STATE_PATH}${entry.path}` };
    const isFile = entry.type === 'file';
    await put(named, isFile ? contentOf(join(folder, entry.path), entry.bytes, digest) : []);
  }
  await text(DIGEST_PATH, digest.digest('hex'));
  archive.finalize();
}

/** The digest has everything that a restore uses of an entry. Its content follows. */
function addEntry(digest: Hash, { path, type, mode, bytes, target = '' }: ArchiveEntry): void {
  digest.update(JSON.stringify([path, type, mode, bytes, target]));
}

function headerOf({ path, type, mode, bytes, target }: ArchiveEntry): Parameters<Pack['entry']>[0] {
  const link = target !== undefined && { linkname: target };
  return { name: path, type: TYPES[type], mode, size: bytes, mtime: new Date(0), ...link };
}

/**
 * What an archive takes of a folder, folders before what they hold. Leaves out sockets, pipes and devices. `onLost` gets
 * what else it cannot take: names and links that are not UTF-8, and what is closed in the quarantine.
 */
export async function* entriesIn(
  folder: string,
  below = '',
  onLost: (path: string) => void = () => {},
): AsyncGenerator<ArchiveEntry, void> {
  for (const name of (await namesIn(join(folder, below))).sort()) {
    if (typeof name !== 'string') {
      onLost(join(below, name.toString()));
      continue;
    }
    if (isLeftOut(below, name)) continue;
    const path = below === '' ? name : `${below}/${name}`;
    const stats = await lstat(join(folder, path)).catch(unlessGone);
    if (!stats) continue;
    const mode = stats.mode & PERMISSIONS;
    if (IN_QUARANTINE.test(path) && !(await isOpen(join(folder, path), stats))) {
      onLost(path);
      continue;
    }
    if (stats.isFile()) yield { path, type: 'file', mode, bytes: stats.size };
    if (stats.isSymbolicLink()) {
      const read = await readlink(join(folder, path), { encoding: 'buffer' }).catch(unlessGone);
      if (!read) continue;
      const target = asText(read);
      if (typeof target === 'string') yield { path, type: 'link', mode, bytes: 0, target };
      else onLost(path);
    }
    if (!stats.isDirectory()) continue;
    yield { path, type: 'folder', mode, bytes: 0 };
    yield* entriesIn(folder, path, onLost);
  }
}

/** The names in a folder; as bytes where they are no text. */
async function namesIn(path: string): Promise<(string | Buffer)[]> {
  const names = await readdir(path, { encoding: 'buffer' }).catch(unlessGone);
  return (names ?? []).map(asText);
}

function asText(bytes: Buffer): string | Buffer {
  const text = bytes.toString();
  return bytes.equals(Buffer.from(text)) ? text : bytes;
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
  // The latter two: something else has taken its place.
  if (!isSystemError(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) throw error;
}

async function* contentOf(path: string, bytes: number, digest: Hash): AsyncGenerator<Buffer, void> {
  if (bytes === 0) return;
  let read = 0;
  for await (const piece of createReadStream(path, { end: bytes - 1 })) {
    read += piece.length;
    digest.update(piece);
    yield piece;
  }
  if (read < bytes) throw new Error(`${path} became shorter while it was read`);
}

/** Takes the entries of an archive, in its order. */
export interface Unpacking {
  /** The archive's first entry. May throw, to refuse it. */
  begin(head: ArchiveHead): void;
  /** `path` is relative and leads to a place inside. The content must be read to its end. */
  take(entry: ArchiveEntry, content: AsyncIterable<Buffer>): Promise<void>;
}

/**
 * Reads an archive. When it returns, the archive was whole and unchanged.
 * Each entry lies directly in the folder itself or in a folder of the archive, never below a link.
 * @throws {LocalError} if the archive is cut short, changed, or none of ours. What was taken must then be thrown away.
 */
export async function readArchive(file: string, unpacking: Unpacking): Promise<ArchiveHead> {
  const opened = await open(file);
  try {
    const { buffer: first } = await opened.read(Buffer.alloc(2), 0, 2, 0);
    const unzipped = first.equals(GZIP_MAGIC) ? [createGunzip()] : [];
    const entries = extract();
    const fed = pipeline([opened.createReadStream({ start: 0 }), ...unzipped, entries]);
    fed.catch(() => {}); // The loop over the entries throws the same.
    const head = await readEntries(entries, unpacking);
    await fed;
    return head;
  } catch (error) {
    if (error instanceof LocalError || Object(error).syscall !== undefined) throw error;
    throw damaged('it is cut short or was changed');
  } finally {
    await opened.close();
  }
}

async function readEntries(entries: Extract, unpacking: Unpacking): Promise<ArchiveHead> {
  const digest = createHash('sha256');
  let head: ArchiveHead | undefined;
  let isWhole = false;
  const folders = new Set(['']);
  const paths = new Set<string>();
  for await (const source of entries) {
    const entry = entryOf(source.header);
    const content = source as AsyncIterable<Buffer>;
    if (entry.path === HEAD_PATH) {
      const text = await textOf(entry, content);
      digest.update(text);
      head = parseHead(text);
      unpacking.begin(head);
      continue;
    }
    if (!head || isWhole) throw damaged('its parts are in no order of ours');
    if (entry.path === DIGEST_PATH) {
      if ((await textOf(entry, content)) !== digest.digest('hex')) throw damaged('it was changed');
      isWhole = true;
      continue;
    }
    const path = entry.path.slice(STATE_PATH.length);
    const isOurs = entry.path.startsWith(STATE_PATH) && isInside(path);
    // A folder comes before what it holds. So nothing is made below a link, or in the place of another entry.
    const isBelowFolder = folders.has(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    if (!isOurs || !isBelowFolder || paths.has(path)) throw damaged('a path in it leads outside');
    paths.add(path);
    if (entry.type === 'folder') folders.add(path);
    addEntry(digest, { ...entry, path });
    await unpacking.take({ ...entry, path }, digested(content, digest));
    source.resume(); // What is no file has no content, and must still be passed over.
  }
  if (!head || !isWhole) throw damaged('it has no end');
  return head;
}

async function* digested(content: AsyncIterable<Buffer>, digest: Hash): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    digest.update(piece);
    yield piece;
  }
}

/** tar ends the name of a folder with a slash. */
function entryOf({ name, type, mode = 0, size = 0, linkname }: Header): ArchiveEntry {
  const found = Object.entries(TYPES).find(([, known]) => known === type)?.[0];
  if (found === undefined) throw damaged('something in it is no part of a backup');
  return {
    path: found === 'folder' ? name.replace(/\/$/, '') : name,
    type: found as ArchiveEntry['type'],
    mode: mode & PERMISSIONS,
    bytes: size,
    ...(found === 'link' && { target: linkname ?? '' }),
  };
}

function parseHead(text: string): ArchiveHead {
  const head = ArchiveHead.safeParse(parseIfJson(text));
  if (head.success) return head.data;
  throw damaged('it does not say what it is, or a later version of Drawbridge wrote it');
}

async function textOf({ bytes }: ArchiveEntry, content: AsyncIterable<Buffer>): Promise<string> {
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

/** The refusal of an archive, which names no file: the caller knows it. */
function damaged(why: string): LocalError {
  return new LocalError('refused', `This is no whole backup: ${why}.`);
}

const HEAD_PATH = 'backup.json';
const DIGEST_PATH = 'backup.sha256';
const STATE_PATH = 'state/';
/** Without setuid and its like: a restore must make no program that runs as its owner. */
const PERMISSIONS = 0o777;
const MAX_TEXT_BYTES = 64 * KIB;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
