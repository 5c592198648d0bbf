/**
 * Finds new contents that may be copies from where no look reads: no time shows it, but something has gone there. A copy
 * has its name or its size, and where few files went, it may have neither. Any other new content may be an edited copy:
 * undo takes it away, and says so. A content that has a line of what it replaced is taken for an edit of that.
 */
import { sha256 } from '../../machine/hash.ts';
import { type GoneFile, type HistoryEntry, type PathChange, targetOf, UNREAD } from './history.ts';
import type { Undone } from './plan.ts';

type ContentOf = (hash: string) => Uint8Array | null;

/** Marks such changes. `entries` are those of the folder, the oldest first; `goneNow` has gone since the last of them. */
export function withForeign(
  byPath: ReadonlyMap<string, readonly Undone[]>,
  entries: readonly HistoryEntry[],
  goneNow: readonly GoneFile[],
  contentOf: ContentOf,
): ReadonlyMap<string, readonly Undone[]> {
  /** What went in an entry or later, by the entry's id. */
  const since = new Map<string, readonly GoneFile[]>();
  let later = goneNow;
  for (const { id, gone = [] } of entries.toReversed()) {
    if (gone.length > 0) later = [...gone, ...later];
    since.set(id, later);
  }
  if (later.length === 0) return byPath;
  const known = new Set<string>();
  for (const changes of byPath.values())
    for (const [at, { before }] of changes.entries()) {
      const isMade = changes.slice(at + 1).some(({ after }) => after?.hash === before?.hash);
      if (before !== null && !isMade) known.add(before.hash);
    }
  const traces = new Map<string, Traces | undefined>();
  const tracesOf = (entry: HistoryEntry): Traces | undefined => {
    if (entry.gone === undefined || entry.undoes !== undefined) return undefined;
    if (!traces.has(entry.id)) traces.set(entry.id, tracesFor(entry, since.get(entry.id) ?? []));
    return traces.get(entry.id);
  };
  const marked = (change: Undone): Undone => {
    const found = tracesOf(change.entry);
    if (found === undefined || known.has(change.after?.hash ?? UNREAD)) return change;
    return { ...change, ...markOf(change, found, contentOf) };
  };
  return new Map([...byPath].map(([path, changes]) => [path, changes.map(marked)]));
}

/** What went, as it is asked about for one entry: what its own message had made, or what came later, does not count. */
interface Traces {
  readonly names: ReadonlySet<string>;
  readonly sizes: ReadonlySet<number>;
  /** Both of one file, which may have another in its place. */
  readonly files: ReadonlySet<string>;
  readonly isAny: boolean;
  /** Contents that undo brings back anyway. */
  readonly known: ReadonlySet<string>;
}

/** Undefined where no content of the entry can be from there. */
export function tracesFor(
  { atMs, response, changes }: Pick<HistoryEntry, 'atMs' | 'response' | 'changes'>,
  gone: readonly GoneFile[],
): Traces | undefined {
  const isOwn = ({ by, sinceMs }: GoneFile) =>
    sinceMs > atMs || (by !== undefined && by === response);
  const theirs = gone.filter((one) => !isOwn(one));
  if (theirs.length === 0) return undefined;
  const missing = theirs.filter(({ isReplaced }) => isReplaced !== true);
  return {
    names: new Set(missing.map(({ path }) => nameOf(path))),
    sizes: new Set(theirs.flatMap(({ size }) => size ?? [])),
    files: new Set(theirs.map(({ path, size }) => `${size} ${nameOf(path)}`)),
    isAny: theirs.some(({ isAny }) => isAny),
    known: new Set(changes.flatMap(({ before }) => before?.hash ?? [])),
  };
}

/** How likely the new content is a copy of what went. */
export function markOf(
  { path, before, after, from }: PathChange,
  { names, sizes, files, isAny, known }: Traces,
  contentOf: ContentOf,
): Pick<PathChange, 'isForeign' | 'isDoubtful'> {
  if (after === null || [UNREAD, EMPTY, before?.hash].includes(after.hash)) return {};
  if (from !== undefined || known.has(after.hash)) return {};
  const link = targetOf(after);
  const content = link === undefined ? contentOf(after.hash) : Buffer.from(link, 'latin1');
  if (content === null) return {};
  const name = nameOf(path);
  if (files.has(`${content.length} ${name}`)) return { isForeign: true };
  const earlier = before && contentOf(before.hash);
  if (earlier && sharesLine(earlier, content)) return {};
  const isLikely = isAny || sizes.has(content.length) || names.has(name);
  return isLikely ? { isForeign: true } : { isDoubtful: true };
}

/** A file that was only edited does, one that was replaced by another mostly does not. */
function sharesLine(one: Uint8Array, other: Uint8Array): boolean {
  const lines = new Set(linesOf(one));
  return linesOf(other).some((line) => lines.has(line));
}

function linesOf(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes).toString('latin1');
  return text.split('\n').flatMap((line) => line.trim() || []);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const EMPTY = sha256(new Uint8Array());
