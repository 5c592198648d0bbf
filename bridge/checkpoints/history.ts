/** The changes that calls made to files, in a file of lines. A broken line is passed over: its changes cannot be undone. */
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import * as z from 'zod';
import { PRIVATE_FILE, replaceFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** A regular file at one moment. Its content is in the store, if it was stored. */
const FileState = z.object({
  hash: z.string(),
  /** The permission bits. */
  mode: z.int().min(0),
});
export type FileState = z.infer<typeof FileState>;

/** The hash of a content that was not read, which is no file's. */
export const UNREAD = '';

/** A path before and after a call; null where there was no file. */
const PathChange = z.object({
  /** Relative to the folder, with `/`. Latin1: one character for each byte. */
  path: z.string(),
  before: FileState.nullable(),
  after: FileState.nullable(),
});
export type PathChange = z.infer<typeof PathChange>;

const Entry = z.object({
  type: z.literal('entry'),
  id: z.uuid(),
  atMs: z.number(),
  conversation: z.string(),
  response: z.string().optional(),
  call: z.string(),
  /** The folder, absolute and real: the workspace, or a worktree. */
  root: z.string(),
  changes: z.array(PathChange),
  /** The changes belong together, as the two of a rename do: all are undone or none. */
  isWhole: z.literal(true).optional(),
  /** For an undo: the changes that it took back. It may take one back without a change of its own. */
  undoes: z.array(z.object({ id: z.uuid(), path: z.string() })).optional(),
});
/** What one call changed. A call can have several. */
export type HistoryEntry = z.infer<typeof Entry>;

const HistoryLine = z.discriminatedUnion('type', [
  Entry,
  /** The change was made, or not. An entry without this line was cut off by the end of the process. */
  z.object({ type: z.literal('settled'), id: z.uuid(), isMade: z.boolean() }),
]);
type HistoryLine = z.infer<typeof HistoryLine>;

/** Held in memory. Each line is on the disk before the change that it describes, so that a killed process leaves it. */
export class CheckpointHistory {
  readonly #path: string;
  readonly #entries = new Map<string, HistoryEntry>();
  readonly #open = new Set<string>();
  /** Of the open ones, those that an earlier process began. */
  readonly #left: ReadonlySet<string>;
  #changes = 0;
  /** Whether the file may end in a part of a line. */
  #isTorn = false;

  /** Throws the system's error where the file cannot be read or written. */
  constructor(path: string) {
    this.#path = path;
    const text = readLines(path);
    const oldestMs = Date.now() - CHECKPOINT_LIMITS.maxAgeMs;
    for (const one of text.split('\n')) {
      const line = HistoryLine.safeParse(parseIfJson(one));
      if (line.success) this.#take(line.data);
    }
    for (const { id, atMs } of this.#entries.values()) if (atMs < oldestMs) this.#drop(id);
    this.#left = new Set(this.#open);
    this.#rewrite();
  }

  /** All entries of changes that were made, the oldest first. */
  get entries(): readonly HistoryEntry[] {
    return [...this.#entries.values()].filter(({ id }) => !this.#open.has(id));
  }

  /** Entries that an earlier process began: the disk shows whether it made the changes. */
  get unsettled(): readonly HistoryEntry[] {
    const isLeft = (id: string) => this.#left.has(id) && this.#open.has(id);
    return [...this.#entries.values()].filter(({ id }) => isLeft(id));
  }

  /** Throws the system's error; then the history is as before. */
  begin(entry: HistoryEntry): void {
    this.#append(entry);
    this.#take(entry);
  }

  /** Counts in this process even where the disk refuses the line: the next one finds out from the file itself. */
  settle(id: string, isMade: boolean): void {
    const line: HistoryLine = { type: 'settled', id, isMade };
    this.#take(line);
    try {
      this.#append(line);
    } catch {
      // See above.
    }
  }

  #take(line: HistoryLine): void {
    if (line.type === 'settled') {
      this.#open.delete(line.id);
      if (!line.isMade) this.#drop(line.id);
      return;
    }
    this.#entries.set(line.id, line);
    this.#open.add(line.id);
    this.#changes += line.changes.length;
    for (const { id } of this.#entries.values()) {
      if (this.#changes <= CHECKPOINT_LIMITS.maxChanges || id === line.id) break;
      this.#drop(id);
    }
  }

  #drop(id: string): void {
    this.#changes -= this.#entries.get(id)?.changes.length ?? 0;
    this.#entries.delete(id);
    this.#open.delete(id);
  }

  #append(line: HistoryLine): void {
    if (this.#isTorn) this.#rewrite();
    try {
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: PRIVATE_FILE });
    } catch (error) {
      this.#isTorn = true;
      throw error;
    }
  }

  #rewrite(): void {
    const lines = [...this.#entries.values()].flatMap((entry): HistoryLine[] =>
      this.#open.has(entry.id) ? [entry] : [entry, { type: 'settled', id: entry.id, isMade: true }],
    );
    replaceFile(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    this.#isTorn = false;
  }
}

/** The newest part of a file that has grown too large. */
function readLines(path: string): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const { size } = fstatSync(file);
      const { maxHistoryBytes: max } = CHECKPOINT_LIMITS;
      if (size <= max) return readFileSync(file, 'utf8');
      const bytes = Buffer.alloc(max);
      const length = readSync(file, bytes, 0, max, size - max);
      return bytes.subarray(0, length).toString('utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  }
}
