/** The quarantine in the state folder: what was put away, from where, when, and after which command. */

import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fromText } from '../../../machine/byte-path.ts';
import { makePrivateFolder, PRIVATE_FILE, replaceFile } from '../../../machine/private-files.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { parseJson } from '../../../shared/text/json.ts';
import { HeldFolder } from './held-folder.ts';
import { removeTree } from './moving.ts';

const Item = z.object({
  /** The name for people, relative to the workspace. */
  name: z.string(),
  /** The old path: absolute, as a BytePath. */
  from: z.string(),
  /** The thing's name in the folder `things`. */
  stored: z.string().regex(/^\d+$/),
  what: z.array(z.string()),
  /** The text of the replacement file. */
  replacement: z.string().optional(),
});
export type QuarantinedItem = z.infer<typeof Item>;

const Manifest = z.object({
  version: z.literal(1),
  id: z.string(),
  created: z.iso.datetime(),
  workspace: z.string(),
  /** The command before the look; null where none is known. */
  command: z.string().nullable(),
});
type Manifest = z.infer<typeof Manifest>;

/** For example `q_1f2e3d4c`. */
const RECORD_ID = /^q_[0-9a-f]{8}$/;
const ID_DIGITS = 8;
const MANIFEST = 'manifest.json';
/** One line for each thing: there may be thousands. */
const ITEMS = 'items.jsonl';
const THINGS = 'things';

/** Everything that one look put away. Each move is written down first, so that a crash in between loses nothing. */
export class QuarantineRecord {
  readonly #folder: string;
  readonly #manifest: Manifest;
  #planned = 0;

  constructor(folder: string, about: Pick<Manifest, 'workspace' | 'command'>) {
    const id = `q_${randomUUID().slice(0, ID_DIGITS)}`;
    this.#folder = join(folder, id);
    this.#manifest = { version: 1, id, created: new Date().toISOString(), ...about };
  }

  get id(): string {
    return this.#manifest.id;
  }

  /** Writes down the things that are about to be moved. Returns their names in {@link things}. */
  plan(
    items: readonly Omit<QuarantinedItem, 'stored'>[],
    { isDurable = true }: { isDurable?: boolean } = {},
  ): readonly string[] {
    if (this.#planned === 0) {
      makePrivateFolder(dirname(this.#folder));
      makePrivateFolder(this.#folder);
      makePrivateFolder(join(this.#folder, THINGS));
      replaceFile(join(this.#folder, MANIFEST), JSON.stringify(this.#manifest));
    }
    const planned = items.map((item) => ({ ...item, stored: String(this.#planned++) }));
    const lines = planned.map((item) => `${JSON.stringify(item)}\n`).join('');
    const options = { mode: PRIVATE_FILE, flush: isDurable };
    appendFileSync(join(this.#folder, ITEMS), lines, options);
    return planned.map(({ stored }) => stored);
  }

  /** The folder that takes the planned things. */
  async things(): Promise<HeldFolder> {
    return await openThings(this.#folder);
  }
}

/** A record as it lies in the state folder. */
export interface StoredManifest extends Manifest {
  readonly items: readonly QuarantinedItem[];
  /** Absolute. */
  readonly folder: string;
}

export function quarantineFolder(stateDir: string): string {
  return join(stateDir, 'quarantine');
}

/** The newest first. `unreadable` has the ids of records that cannot be read. */
export function listRecords(stateDir: string): {
  readonly records: readonly StoredManifest[];
  readonly unreadable: readonly string[];
} {
  const records: StoredManifest[] = [];
  const unreadable: string[] = [];
  for (const id of idsIn(quarantineFolder(stateDir))) {
    const folder = join(quarantineFolder(stateDir), id);
    const record = readRecord(folder);
    if (record === undefined) unreadable.push(id);
    else records.push(record);
  }
  return { records: records.sort((a, b) => b.created.localeCompare(a.created)), unreadable };
}

/** The folder with the things of a record. */
export async function openThings(folder: string): Promise<HeldFolder> {
  return await HeldFolder.open(fromText(realpathSync(join(folder, THINGS))));
}

/** Removes a record with everything in it. */
export async function removeRecord(stateDir: string, id: string): Promise<void> {
  await using folder = await HeldFolder.open(fromText(realpathSync(quarantineFolder(stateDir))));
  await removeTree({ folder, name: id });
}

function idsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => RECORD_ID.test(name));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  }
}

function readRecord(folder: string): StoredManifest | undefined {
  try {
    const manifest = Manifest.parse(parseJson(readFileSync(join(folder, MANIFEST), 'utf8')));
    // A crash can cut the last line short. Its thing was not moved.
    const lines = readFileSync(join(folder, ITEMS), 'utf8').split('\n').slice(0, -1);
    return { ...manifest, folder, items: lines.map((line) => Item.parse(parseJson(line))) };
  } catch {
    return undefined; // The record has another version or is damaged. Its things stay.
  }
}
