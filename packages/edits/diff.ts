/** Works out what an edit changed, as the `file_edit` document shows it. */
import { diffArrays } from 'diff';
import type { Diff } from '../../shared/wire/documents.ts';
import { EDIT_LIMITS } from './limits.ts';
import { countLines } from './lines.ts';

/**
 * The whole change as one diff, from its first to its last line. `hunks` is set only when unchanged lines lie in
 * between.
 */
export interface TextDiff {
  readonly diff: Diff;
  readonly hunks?: readonly Diff[];
}

/**
 * The change between two texts; null when there is none or it is too long to show. `newString` replaces lines
 * `startLine` to `endLine` of the old text. Where lines are only added or only removed, both halves include a line
 * beside them. Line ends other than `\n` belong to the lines.
 */
export function diffTexts(before: string, after: string): TextDiff | null {
  if (before === after) return null;
  const old = before.split('\n');
  const fresh = after.split('\n');
  const whole = findChange(old, fresh);
  const diff = toDiff(old, fresh, whole);
  if (diff.oldString.length + diff.newString.length > EDIT_LIMITS.maxDiffChars) return null;
  const hunks = findHunks(old, fresh, whole).map((hunk) => toDiff(old, fresh, hunk));
  const isTelling = hunks.length > 1 && hunks.length <= EDIT_LIMITS.maxHunks;
  return isTelling && isInOrder(hunks) ? { diff, hunks } : { diff };
}

/** A change as lines for the model: `@@ line N @@`, N counting in the old text, then lines with `-` and `+`. */
export function formatChange({ diff, hunks }: TextDiff): {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
} {
  const places = (hunks ?? [diff]).map(withoutNeighbours);
  return {
    text: places.map(formatPlace).join('\n'),
    added: places.reduce((sum, place) => sum + place.added.length, 0),
    removed: places.reduce((sum, place) => sum + place.removed.length, 0),
  };
}

interface ChangedLines {
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Without the equal lines that a diff has at its ends where lines are only added or only removed. */
function withoutNeighbours({ oldString, newString, startLine }: Diff): ChangedLines {
  const [old, fresh] = [oldString.split('\n'), newString.split('\n')];
  const { oldFrom, oldTo, newFrom, newTo } = findChange(old, fresh);
  return {
    line: startLine + oldFrom,
    removed: old.slice(oldFrom, oldTo),
    added: fresh.slice(newFrom, newTo),
  };
}

function formatPlace({ line, removed, added }: ChangedLines): string {
  return [
    `@@ line ${line} @@`,
    ...removed.map((text) => `-${text}`),
    ...added.map((text) => `+${text}`),
  ].join('\n');
}

/** A change as the person who decides about it sees it. */
export interface ShownChange {
  readonly diff: Diff[];
  /** UTF-16 units of the diff that are left out. */
  readonly cut?: { readonly chars: number };
}

/** `changes` is the result of {@link diffTexts}; `before` is null for a new file. */
export function showChange(
  before: string | null,
  after: string,
  changes: TextDiff | null,
): ShownChange {
  if (changes !== null) return fitted(changes.hunks ?? [changes.diff]);
  if (before !== null) return fitted([wholeChange(before, after)]);
  const endLine = countLines(after);
  return fitted(after === '' ? [] : [{ oldString: '', newString: after, startLine: 1, endLine }]);
}

/** Unlike the fine diff this looks at each character at most once, however long the texts are. */
function wholeChange(before: string, after: string): Diff {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  start = start === 0 ? 0 : before.lastIndexOf('\n', start - 1) + 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const lineEnd = before.indexOf('\n', before.length - end);
  end = lineEnd < 0 ? 0 : before.length - lineEnd;
  const oldString = before.slice(start, before.length - end);
  const newString = after.slice(start, after.length - end);
  const startLine = countLines(before.slice(0, start)) + 1;
  return { oldString, newString, startLine, endLine: startLine + oldString.split('\n').length - 1 };
}

function fitted(hunks: readonly Diff[]): ShownChange {
  let left: number = EDIT_LIMITS.maxProposedChars;
  let chars = 0;
  const take = (text: string, most: number): string => {
    const shown = text.length <= most ? text : text.slice(0, most).toWellFormed();
    left -= shown.length;
    chars += text.length - shown.length;
    return shown;
  };
  const diff = hunks.flatMap((hunk) => {
    const isOver = left === 0;
    // A long removed piece leaves room for its replacement.
    const oldString = take(hunk.oldString, Math.max(left - hunk.newString.length, left >> 1));
    const newString = take(hunk.newString, left);
    return isOver ? [] : [{ ...hunk, oldString, newString }];
  });
  return chars === 0 ? { diff } : { diff, cut: { chars } };
}

/** Half-open ranges of the old and the new lines. */
interface LineChange {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** The part between the common lines at both ends. */
function findChange(old: readonly string[], fresh: readonly string[]): LineChange {
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  return { oldFrom: start, oldTo: old.length - end, newFrom: start, newTo: fresh.length - end };
}

/** The changes inside. One whole change when the search takes too long; that is correct too, only less fine. */
function findHunks(
  old: readonly string[],
  fresh: readonly string[],
  whole: LineChange,
): LineChange[] {
  const changes = diffArrays(
    old.slice(whole.oldFrom, whole.oldTo),
    fresh.slice(whole.newFrom, whole.newTo),
    { timeout: EDIT_LIMITS.diffTimeoutMs },
  );
  // Undefined when the time ran out, although the package's types do not say so.
  if (changes === undefined) return [whole];
  const hunks: LineChange[] = [];
  let { oldFrom, newFrom } = whole;
  let open: LineChange | null = null;
  for (const { added, removed, count } of changes) {
    const oldTo: number = added ? oldFrom : oldFrom + count;
    const newTo: number = removed ? newFrom : newFrom + count;
    if (added || removed) open = { ...(open ?? { oldFrom, newFrom }), oldTo, newTo };
    else if (open !== null) {
      hunks.push(open);
      open = null;
    }
    [oldFrom, newFrom] = [oldTo, newTo];
  }
  return open === null ? hunks : [...hunks, open];
}

function toDiff(old: readonly string[], fresh: readonly string[], change: LineChange): Diff {
  const { oldFrom, oldTo, newFrom, newTo } = withNeighbour(change);
  return {
    oldString: old.slice(oldFrom, oldTo).join('\n'),
    newString: fresh.slice(newFrom, newTo).join('\n'),
    startLine: oldFrom + 1,
    endLine: oldTo,
  };
}

function withNeighbour(change: LineChange): LineChange {
  const { oldFrom, oldTo, newFrom, newTo } = change;
  if (oldFrom < oldTo && newFrom < newTo) return change;
  return oldFrom > 0
    ? { oldFrom: oldFrom - 1, oldTo, newFrom: newFrom - 1, newTo }
    : { oldFrom, oldTo: oldTo + 1, newFrom, newTo: newTo + 1 };
}

/** Two hunks at the top of a file can share a neighbour line. They are then shown as one. */
function isInOrder(hunks: readonly Diff[]): boolean {
  return hunks.every((hunk, index) => hunk.startLine > (hunks[index - 1]?.endLine ?? 0));
}
