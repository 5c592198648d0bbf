/** Merges two versions of a file that come from the same third one, line by line. */
import { diff3Merge } from 'node-diff3';

export interface ThreeVersions {
  readonly base: Uint8Array;
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
  readonly maxLines: number;
}

/** Null where both changed the same lines, and for a file that is no text or has too many lines. */
export function mergeThree({ base, ours, theirs, maxLines }: ThreeVersions): Uint8Array | null {
  // Latin1: one character for each byte, so that every byte of the file survives.
  const linesOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1').split(LINE);
  if ([base, ours, theirs].some((bytes) => bytes.includes(0))) return null;
  const [mine, old, their] = [linesOf(ours), linesOf(base), linesOf(theirs)];
  if ([mine, old, their].some(({ length }) => length > maxLines)) return null;
  const regions = diff3Merge(mine, old, their, { excludeFalseConflicts: true });
  const parts: string[] = [];
  for (const region of regions as readonly { readonly ok?: readonly string[] }[]) {
    if (region.ok === undefined) return null;
    // One by one: a spread of very many arguments would not fit the stack.
    for (const line of region.ok) parts.push(line);
  }
  return Buffer.from(parts.join(''), 'latin1');
}

/** After each line end, which stays with its line. */
const LINE = /(?<=\n)/;
