/** Finds discovery files and reads them. Any process can write one, so each is checked first; none is ever deleted. */
import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { isSystemError } from '../../../machine/system-error.ts';
import { parseJson } from '../../../shared/json.ts';
import type { Family, PassedOver, Place } from './candidate.ts';
import { foldersToSearch, type Wanted } from './families.ts';
import { DISCOVERY_LIMITS } from './limits.ts';

/** A file whose name fits, not yet read. */
interface Found {
  readonly family: Family;
  readonly path: string;
  /** The numbers in its name. */
  readonly numbers: readonly number[];
  readonly changedMs: number;
}

/** What a companion announces, by a file or by variables. */
export interface Announcement {
  readonly family: Family;
  readonly source: string;
  readonly port: number;
  readonly token?: string;
  /** The list of folders as it is told; undefined where none is. */
  readonly told?: string | readonly string[] | undefined;
  readonly pid?: number;
  readonly ide?: { readonly name: string; readonly displayName: string };
  readonly changedMs: number;
}

/** What a part of the search has found, and what it left out. */
export interface Gathered {
  readonly announcements: readonly Announcement[];
  readonly passedOver: readonly PassedOver[];
}

/** Reads the discovery files of both families, the newest first. `preferredPorts` are read even behind many newer ones. */
export async function readFiles(
  place: Place,
  preferredPorts: ReadonlySet<number>,
): Promise<Gathered> {
  const passedOver: PassedOver[] = [];
  const pass = (source: string, why: string) => void passedOver.push({ source, why });
  const folders = [...foldersToSearch(place)];
  const listed = await Promise.all(
    folders.map(([folder, wanted]) => listFolder(folder, wanted, place, pass)),
  );
  const isPreferred = ({ numbers }: Found) => numbers.some((number) => preferredPorts.has(number));
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

type Pass = (source: string, why: string) => void;

/** The files that may be read. A folder that does not exist has none. */
async function listFolder(
  folder: string,
  wanted: readonly Wanted[],
  place: Place,
  pass: Pass,
): Promise<Found[]> {
  const names = await namesIn(folder, wanted, pass);
  const found = await Promise.all(
    names.map(async ({ name, family, numbers }): Promise<Found[]> => {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined) return []; // Its companion has ended meanwhile.
      const why = refusalOf(stats, place);
      if (why !== undefined) pass(path, why);
      return why === undefined ? [{ family, path, numbers, changedMs: stats.mtimeMs }] : [];
    }),
  );
  return found.flat();
}

interface Named {
  readonly name: string;
  readonly family: Family;
  readonly numbers: readonly number[];
}

async function namesIn(folder: string, wanted: readonly Wanted[], pass: Pass): Promise<Named[]> {
  const names: Named[] = [];
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

function nameAs(name: string, { family, name: pattern }: Wanted): Named[] {
  const match = pattern.exec(name);
  if (match === null) return [];
  const numbers = match.slice(1).filter((digits) => digits !== undefined);
  return [{ name, family, numbers: numbers.map(Number) }];
}

/** What keeps a file from being believed. Where any other user could write it, it announces whatever that user likes. */
function refusalOf(stats: Stats, { userId }: Place): string | undefined {
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
  found: Found,
  place: Place,
  pass: Pass,
): Promise<Announcement | undefined> {
  const { path } = found;
  try {
    const text = await readChecked(path, place, pass);
    return text === undefined ? undefined : announcementOf(found, parseFile(text));
  } catch (error) {
    // A companion that has ended takes its file away.
    if (!isSystemError(error, 'ENOENT')) pass(path, whyUnreadable(error));
    return undefined;
  }
}

/** Checks again what is read: the name may have come to mean another file. */
async function readChecked(path: string, place: Place, pass: Pass): Promise<string | undefined> {
  // Does not wait for a pipe. Windows has no such flags.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
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

function parseFile(text: string): DiscoveryFile {
  const value = parseJson(text);
  if (Object(value).port === undefined && Object(value).stdio !== undefined)
    throw new OnlyProgram();
  return DiscoveryFile.parse(value);
}

class OnlyProgram extends Error {}

/** Wrong values of what only a person reads are dropped; port, folders and token must be right. */
const Port = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number),
  ])
  .pipe(z.int().min(1).max(65_535));
const Pid = z.int().positive();
const Token = z
  .string()
  .max(DISCOVERY_LIMITS.maxTokenChars)
  // What a header can hold. An empty token is none.
  .regex(/^[\x21-\x7e]*$/);
const DiscoveryFile = z.object({
  port: Port,
  workspacePath: z.union([z.string(), z.array(z.string())]).nullish(),
  authToken: Token.nullish(),
  ppid: Pid.optional().catch(undefined),
  ideName: z.string().min(1).optional().catch(undefined),
  ideInfo: z
    .object({ name: z.string().min(1), displayName: z.string().min(1) })
    .optional()
    .catch(undefined),
});
type DiscoveryFile = z.infer<typeof DiscoveryFile>;

function announcementOf(found: Found, file: DiscoveryFile): Announcement {
  const { family, path: source, changedMs } = found;
  const { port, workspacePath: told, authToken: token } = file;
  const pid = pidOf(found.numbers, file);
  const ide = file.ideInfo ?? (file.ideName && { name: file.ideName, displayName: file.ideName });
  return {
    ...{ family, source, port, changedMs },
    ...(token && { token }),
    ...(told !== null && told !== undefined && { told }),
    ...(pid !== undefined && { pid }),
    ...(ide && { ide: { name: shorten(ide.name), displayName: shorten(ide.displayName) } }),
  };
}

function pidOf([first, second]: readonly number[], file: DiscoveryFile): number | undefined {
  return second === undefined && first === file.port ? file.ppid : first;
}

function shorten(name: string): string {
  return name.slice(0, DISCOVERY_LIMITS.maxNameChars).toWellFormed();
}

function whyUnreadable(error: unknown): string {
  if (error instanceof OnlyProgram)
    return 'it names a program to start instead of a port: Drawbridge starts none';
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    return `it is no discovery file: ${issue?.path.join('.') || 'its JSON'}: ${issue?.message}`;
  }
  return codeOf(error) === undefined
    ? 'it holds no readable JSON'
    : `it cannot be read (${codeOf(error)})`;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** A port of a variable, which is a number in digits. */
export function parsePort(text: string): number | undefined {
  return Port.safeParse(text.trim()).data;
}

/** A process id of a variable. */
export function parsePid(text: string): number | undefined {
  return Pid.safeParse(Number(text)).data;
}

/** A token of a variable. */
export function parseToken(text: string): string | undefined {
  return Token.safeParse(text).data || undefined;
}
