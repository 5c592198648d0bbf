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

/** A regular file, or a symbolic link, at one moment. A file's content is in the store, if it was stored. */
const FileState = z.object({
  /** Of the content; a link has `link:` and its target, which is its whole content. No older program has such a hash. */
  hash: z.string(),
  /** The permission bits. All links have the same. */
  mode: z.int().min(0),
});
export type FileState = z.infer<typeof FileState>;

/** The hash of a content that was not read, which is no file's. */
export const UNREAD = '';

const LINK = 'link:';

/** A link to this target, which is as the system has it (latin1). */
export function linkTo(target: string): FileState {
  return { hash: `${LINK}${target}`, mode: 0o777 };
}

/** Undefined for a regular file. */
export function targetOf({ hash }: Pick<FileState, 'hash'>): string | undefined {
  return hash.startsWith(LINK) ? hash.slice(LINK.length) : undefined;
}

/** A path before and after a call; null where there was no file. */
const PathChange = z.object({
  /** Relative to the folder, with `/`. Latin1: one character for each byte. */
  path: z.string(),
  before: FileState.nullable(),
  after: FileState.nullable(),
  /** The call ran without a question, because an undo can bring back what was there. Its content is kept longest. */
  isPromised: z.literal(true).optional(),
  /** Another path that had the new content before the call: this may be the only copy of it now. */
  from: z.string().optional(),
  /** The new file comes from where no look sees it: it, or what it has, may have no other place. */
  isForeign: z.literal(true).optional(),
  /** The new content may be an edited copy of one that went from there. What `isForeign` says comes first. */
  isDoubtful: z.literal(true).optional(),
});
export type PathChange = z.infer<typeof PathChange>;

/** What went from where contents are not read. */
const GoneFile = z.object({
  path: z.string(),
  /** Of a file. */
  size: z.number().optional(),
  /** Since when it had its content. */
  sinceMs: z.number(),
  /** It was the person's, and few went with it, or it stood directly in a cache: whatever is new may be made from it. */
  isAny: z.literal(true).optional(),
  /** The file has another content, or its place has another file. */
  isReplaced: z.literal(true).optional(),
  /** The response that had made it. */
  by: z.string().optional(),
});
export type GoneFile = z.infer<typeof GoneFile>;

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
  /** For an undo: the changes that it took back. It may take one back without a change of its own. */
  undoes: z.array(z.object({ id: z.uuid(), path: z.string() })).optional(),
  /** Of a command alone: what went up to its end, and after the command before it. */
  gone: z.array(GoneFile).optional(),
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
  #promised = 0;
  /** Files in {@link HistoryEntry.gone}. */
  #gone = 0;
  /** Of the file. */
  #bytes = 0;
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

  /** All entries, also those that may not have been made. */
  get all(): Iterable<HistoryEntry> {
    return this.#entries.values();
  }

  /** All entries of changes that were made, the oldest first. */
  get entries(): readonly HistoryEntry[] {
    return [...this.#entries.values()].filter(({ id }) => !this.#open.has(id));
  }

  /** How many changes were made without a question, because an undo can take them back. */
  get promised(): number {
    return this.#promised;
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
    this.#set(line);
    this.#open.add(line.id);
    for (const entry of this.#entries.values()) {
      if (this.#changes <= CHECKPOINT_LIMITS.maxChanges || entry.id === line.id) break;
      const promised = entry.changes.filter(({ isPromised }) => isPromised);
      if (promised.length === 0) this.#drop(entry.id);
      else this.#set({ ...entry, changes: promised });
    }
    for (const entry of this.#entries.values()) {
      if (this.#gone <= CHECKPOINT_LIMITS.maxAllGone || entry.id === line.id) break;
      if (entry.changes.length === 0) this.#drop(entry.id);
      else if (entry.gone !== undefined) this.#set({ ...entry, gone: [] });
    }
  }

  #set(entry: HistoryEntry): void {
    this.#count(this.#entries.get(entry.id), -1);
    this.#entries.set(entry.id, entry);
    this.#count(entry, 1);
  }

  #drop(id: string): void {
    this.#count(this.#entries.get(id), -1);
    this.#entries.delete(id);
    this.#open.delete(id);
  }

  #count(
    { changes, gone = [] }: Pick<HistoryEntry, 'changes' | 'gone'> = { changes: [] },
    times: 1 | -1,
  ): void {
    this.#changes += times * changes.length;
    this.#gone += times * gone.length;
    this.#promised += times * changes.filter(({ isPromised }) => isPromised).length;
  }

  #append(line: HistoryLine): void {
    const text = `${JSON.stringify(line)}\n`;
    this.#bytes += text.length;
    // The next start reads no more than its end, and must not miss what was promised.
    if (this.#isTorn || this.#bytes > CHECKPOINT_LIMITS.maxHistoryBytes / 2) this.#rewrite();
    try {
      appendFileSync(this.#path, text, { mode: PRIVATE_FILE });
    } catch (error) {
      this.#isTorn = true;
      throw error;
    }
  }

  #rewrite(): void {
    const lines = [...this.#entries.values()].flatMap((entry): HistoryLine[] =>
      this.#open.has(entry.id) ? [entry] : [entry, { type: 'settled', id: entry.id, isMade: true }],
    );
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    replaceFile(this.#path, text);
    this.#bytes = text.length;
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
