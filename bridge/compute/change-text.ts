/** Two contents of a file as the lines that differ, for the model. */
import { cutLines } from '../../shared/cut-lines.ts';
import type { Diff } from '../../shared/documents.ts';
import { diffTexts } from '../edits/diff.ts';
import { decode } from '../edits/encoding.ts';

export interface ChangedBytes {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** UTF-16 units of the text. */
  readonly maxChars: number;
}

/**
 * First the numbers of added and removed lines, then each changed place: `@@ line N @@`, N counting in the old content,
 * and lines with `-` and `+`.
 */
export function describeChange({ before, after, maxChars }: ChangedBytes): string {
  const [old, fresh] = [decode(before), decode(after)];
  if (old.kind === 'binary' || fresh.kind === 'binary') return '(a binary file)';
  const change = diffTexts(old.text, fresh.text);
  if (change === null) return '(too much has changed to be shown: read it again)';
  const hunks = (change.hunks ?? [change.diff]).map(withoutNeighbours);
  const removed = hunks.reduce((sum, hunk) => sum + hunk.removed.length, 0);
  const added = hunks.reduce((sum, hunk) => sum + hunk.added.length, 0);
  const text = [`+${added} -${removed} lines`, ...hunks.map(describeHunk)].join('\n');
  return cutLines(text, maxChars, 'use read_file');
}

interface Hunk {
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Without the equal lines that a diff has at its ends where lines are only added or only removed. */
function withoutNeighbours({ oldString, newString, startLine }: Diff): Hunk {
  const [old, fresh] = [oldString.split('\n'), newString.split('\n')];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  return {
    line: startLine + start,
    removed: old.slice(start, old.length - end),
    added: fresh.slice(start, fresh.length - end),
  };
}

function describeHunk({ line, removed, added }: Hunk): string {
  return [
    `@@ line ${line} @@`,
    ...removed.map((text) => `-${text}`),
    ...added.map((text) => `+${text}`),
  ].join('\n');
}
