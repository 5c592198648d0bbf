/** Two contents of a file as the lines that differ, for the model. */

import { diffTexts, formatChange } from '../../packages/edits/index.ts';
import { decode } from '../../packages/edits/text.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';

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
  const { text, added, removed } = formatChange(change);
  return cutLines(`+${added} -${removed} lines\n${text}`, maxChars, 'use read_file');
}
