/** Finds discovery files and reads them. Any process can write one, so each is checked first; none is ever deleted. */
import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../../../../machine/system-error.ts';
import {
  type Announcement,
  type FoundAnnouncement,
  type Gathered,
  parseAnnouncement,
} from './announcement.ts';
import type { Family, PassedOver, SearchPlace } from './candidate.ts';
import { foldersToSearch, type WantedFile } from './families.ts';
import { DISCOVERY_LIMITS } from './limits.ts';

/** Reads the discovery files of both families, the newest first. `preferredPorts` are read even behind many newer ones. */
export async function readFiles(
  place: SearchPlace,
  preferredPorts: ReadonlySet<number>,
): Promise<Gathered> {
  const passedOver: PassedOver[] = [];
  const pass = (source: string, why: string) => void passedOver.push({ source, why });
  const folders = [...foldersToSearch(place)];
  const listed = await Promise.all(
    folders.map(([folder, wanted]) => listFolder(folder, wanted, place, pass)),
  );
  const isPreferred = ({ numbers }: FoundAnnouncement) =>
    numbers.some((number) => preferredPorts.has(number));
  const found = listed
    .flat()
    .sort((a, b) => +isPreferred(b) - +isPreferred(a) || b.changedMs - a.changedMs);
  for (const { path } of found.slice(DISCOVERY_LIMITS.maxFiles)) {
    pass(path, `it is older than ${DISCOVERY_LIMITS.maxFiles} others, and they are enough to read`);
  }
  const read = await Promise.all(
    found.slice(0, DISCOVERY_LIMITS.maxFiles).map((file) => readAnnouncement(file, place, pass)),
  );
  return { announcements: read.filter((each) => each !== undefined), passedOver };
}

type PassOver = (source: string, why: string) => void;

/** The files that may be read. A folder that does not exist has none. */
async function listFolder(
  folder: string,
  wanted: readonly WantedFile[],
  place: SearchPlace,
  pass: PassOver,
): Promise<FoundAnnouncement[]> {
  const names = await namesIn(folder, wanted, pass);
  const found = await Promise.all(
    names.map(async ({ name, family, numbers }): Promise<FoundAnnouncement[]> => {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined) return []; // Its companion has stopped meanwhile.
      const why = refusalOf(stats, place);
      if (why !== undefined) pass(path, why);
      return why === undefined ? [{ family, path, numbers, changedMs: stats.mtimeMs }] : [];
    }),
  );
  return found.flat();
}

interface NamedFile {
  readonly name: string;
  readonly family: Family;
  readonly numbers: readonly number[];
}

async function namesIn(
  folder: string,
  wanted: readonly WantedFile[],
  pass: PassOver,
): Promise<NamedFile[]> {
  const names: NamedFile[] = [];
  try {
    let seen = 0;
    for await (const { name } of await opendir(folder, { bufferSize: NAMES_AT_ONCE })) {
      if (++seen > DISCOVERY_LIMITS.maxEntries) {
        pass(folder, `it has more than ${DISCOVERY_LIMITS.maxEntries} entries: not all were seen`);
        break;
      }
      names.push(...wanted.flatMap((kind) => nameAs(name, kind)));
    }
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) pass(folder, `it cannot be listed (${codeOf(error)})`);
  }
  return names;
}

const NAMES_AT_ONCE = 512;

function nameAs(name: string, { family, name: pattern }: WantedFile): NamedFile[] {
  const match = pattern.exec(name);
  if (match === null) return [];
  const numbers = match.slice(1).filter((digits) => digits !== undefined);
  return [{ name, family, numbers: numbers.map(Number) }];
}

/** What keeps a file from being believed. Where any other user could write it, it announces whatever that user likes. */
function refusalOf(stats: Stats, { userId }: SearchPlace): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a link, not a file';
  if (!stats.isFile()) return 'it is not a regular file';
  if (stats.size > DISCOVERY_LIMITS.maxFileBytes) return `it is too large (${stats.size} bytes)`;
  if (userId === undefined) return undefined;
  if (stats.uid !== userId) return `it belongs to another user (${stats.uid})`;
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0) return 'other users may write it (chmod go-w)';
  return undefined;
}

const WRITABLE_BY_OTHERS = 0o022;

async function readAnnouncement(
  found: FoundAnnouncement,
  place: SearchPlace,
  pass: PassOver,
): Promise<Announcement | undefined> {
  const { path } = found;
  try {
    const text = await readChecked(path, place, pass);
    if (text === undefined) return undefined;
    const announced = parseAnnouncement(found, text);
    if (typeof announced !== 'string') return announced;
    pass(path, announced);
  } catch (error) {
    // A companion that stops takes its file away.
    if (!isSystemError(error, 'ENOENT')) pass(path, `it cannot be read (${codeOf(error)})`);
  }
  return undefined;
}

/** Checks again what is read: the name may have come to mean another file. */
async function readChecked(
  path: string,
  place: SearchPlace,
  pass: PassOver,
): Promise<string | undefined> {
  // Does not wait for a pipe.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const why = refusalOf(await file.stat(), place);
  if (why !== undefined) {
    pass(path, why);
    return undefined;
  }
  // A file that grows meanwhile is no longer JSON after the cut.
  const buffer = Buffer.alloc(DISCOVERY_LIMITS.maxFileBytes);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
