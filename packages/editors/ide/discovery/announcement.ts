/** What a companion announces, and the form of its discovery file. */
import * as z from 'zod';
import { parseIfJson } from '../../../../shared/text/json.ts';
import type { Family, PassedOver } from './candidate.ts';
import { DISCOVERY_LIMITS } from './limits.ts';

/** What a companion announces, by a file or by variables. */
export interface Announcement {
  readonly family: Family;
  readonly source: string;
  readonly port: number;
  readonly token?: string;
  /** The list of folders as it is written; undefined where there is none. */
  readonly folders?: string | readonly string[] | undefined;
  readonly pid?: number;
  readonly ide?: { readonly name: string; readonly displayName: string };
  readonly changedMs: number;
}

/** What a part of the search has found, and what it left out. */
export interface Gathered {
  readonly announcements: readonly Announcement[];
  readonly passedOver: readonly PassedOver[];
}

/** A number, or its digits. */
export const Port = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number),
  ])
  .pipe(z.int().min(1).max(65_535));
export const Pid = z.int().positive();
/** What a header can hold. An empty token is none. */
export const Token = z
  .string()
  .max(DISCOVERY_LIMITS.maxTokenChars)
  .regex(/^[\x21-\x7e]*$/);
/** Wrong values of what only a person reads are dropped; port, folders and token must be right. */
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

/** A file whose name fits, not yet read. */
export interface FoundAnnouncement {
  readonly family: Family;
  readonly path: string;
  /** The numbers in its name. */
  readonly numbers: readonly number[];
  readonly changedMs: number;
}

/** The announcement of a file's text, or one clause that says why there is none. */
export function parseAnnouncement(found: FoundAnnouncement, text: string): Announcement | string {
  const value = parseIfJson(text);
  if (value === undefined) return 'it holds no readable JSON';
  const { port, stdio } = Object(value);
  if (port === undefined && stdio !== undefined) return PROGRAM_ONLY;
  const { data, error } = DiscoveryFile.safeParse(value);
  if (data) return announcementOf(found, data);
  const [issue] = error.issues;
  return `it is no discovery file: ${issue?.path.join('.') || 'its JSON'}: ${issue?.message}`;
}

const PROGRAM_ONLY = 'it names a program to start instead of a port: Drawbridge starts none';

function announcementOf(found: FoundAnnouncement, file: DiscoveryFile): Announcement {
  const { family, path: source, changedMs } = found;
  const { port, workspacePath: folders, authToken: token } = file;
  const pid = pidOf(found.numbers, file);
  const ide = file.ideInfo ?? (file.ideName && { name: file.ideName, displayName: file.ideName });
  return {
    family,
    source,
    port,
    changedMs,
    ...(token && { token }),
    ...(folders !== null && folders !== undefined && { folders }),
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
