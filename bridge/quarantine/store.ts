/** The quarantine in the state folder: what was put away, from where, when, and after which command. */

import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { makePrivateFolder, PRIVATE_FILE, replaceFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { parseJson } from '../../shared/json.ts';
import { fromText } from '../sandbox/byte-path.ts';
import { HeldFolder } from './held-folder.ts';
import { removeTree } from './moving.ts';

const Item = z.object({
  /** For people, relative to the workspace. */
  name: z.string(),
  /** Where it stood, absolute; as a BytePath. */
  from: z.string(),
  /** Its name in the folder `things`. */
  stored: z.string().regex(/^\d+$/),
  what: z.array(z.string()),
  /** The text that was put in its place. */
  replacement: z.string().optional(),
});
export type Item = z.infer<typeof Item>;

const Manifest = z.object({
  version: z.literal(1),
  id: z.string(),
  created: z.iso.datetime(),
  workspace: z.string(),
  /** The command after which it was found, where one is known. */
  command: z.string().nullable(),
});
type Manifest = z.infer<typeof Manifest>;

/** `q_1f2e3d4c` */
export const RECORD_ID = /^q_[0-9a-f]{8}$/;
const ID_DIGITS = 8;
const MANIFEST = 'manifest.json';
/** A line for each: there may be thousands. */
const ITEMS = 'items.jsonl';
const THINGS = 'things';

/** All that one look put away. What is moved is written down before, so that a crash in between loses nothing. */
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

  /** Writes down what is about to be moved; gives their names in {@link things}. */
  plan(
    items: readonly Omit<Item, 'stored'>[],
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

  /** The folder that takes what was planned. */
  async things(): Promise<HeldFolder> {
    return await openThings(this.#folder);
  }
}

/** A record as it lies in the state folder. */
export interface StoredRecord extends Manifest {
  readonly items: readonly Item[];
  /** Absolute. */
  readonly folder: string;
}

export function quarantineFolder(stateDir: string): string {
  return join(stateDir, 'quarantine');
}

/** The newest first. What cannot be read is told by its name instead. */
export function listRecords(stateDir: string): {
  readonly records: readonly StoredRecord[];
  readonly unreadable: readonly string[];
} {
  const records: StoredRecord[] = [];
  const unreadable: string[] = [];
  for (const id of idsIn(quarantineFolder(stateDir))) {
    const folder = join(quarantineFolder(stateDir), id);
    const record = readRecord(folder);
    if (record === undefined) unreadable.push(id);
    else records.push(record);
  }
  return { records: records.sort((a, b) => b.created.localeCompare(a.created)), unreadable };
}

/** What was put away by a record. */
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

function readRecord(folder: string): StoredRecord | undefined {
  try {
    const manifest = Manifest.parse(parseJson(readFileSync(join(folder, MANIFEST), 'utf8')));
    // What a crash tore at the end was not moved.
    const lines = readFileSync(join(folder, ITEMS), 'utf8').split('\n').slice(0, -1);
    return { ...manifest, folder, items: lines.map((line) => Item.parse(parseJson(line))) };
  } catch {
    return undefined; // Of another version, or damaged: what lies beside it stays.
  }
}
