/** Cuts a file into stretches of lines that belong together, by blank lines, indentation and definitions alone. */

import { nameDefinedBy } from './definitions.ts';
import { CODEBASE_LIMITS } from './limits.ts';

/** Lines of a file, from `start` up to but not including `end`; both counted from 0. */
export interface FileChunk {
  readonly start: number;
  readonly end: number;
}

/** The whole file in order, without gaps. A chunk has at most `maxChunkLines` lines. Lines come without line ends. */
export function cutIntoChunks(lines: readonly string[]): FileChunk[] {
  const seams = lines.map((_, index) => seamBefore(lines, index));
  const chunks: FileChunk[] = [];
  for (let start = 0; start < lines.length; ) {
    const end = endOfChunk(seams, start);
    chunks.push({ start, end });
    start = end;
  }
  return chunks;
}

/** How well a file can be cut before a line. */
const SEAM = { none: 0, blank: 1, inner: 2, top: 3 } as const;

type Seam = (typeof SEAM)[keyof typeof SEAM];

/** The best seam that leaves a chunk neither too short nor too long; of equal seams the first. */
function endOfChunk(seams: readonly Seam[], start: number): number {
  const { minChunkLines, maxChunkLines } = CODEBASE_LIMITS;
  if (seams.length - start <= minChunkLines) return seams.length;
  const last = Math.min(start + maxChunkLines, seams.length);
  let best = last;
  let strength: Seam = last === seams.length ? SEAM.blank : SEAM.none;
  for (let at = start + minChunkLines; at < last; at++) {
    const seam = seams[at] ?? SEAM.none;
    if (seam > strength) [best, strength] = [at, seam];
    if (strength === SEAM.top) break;
  }
  return best;
}

/** A comment above a definition belongs to it, so the seam is at the first line after a blank one. */
function seamBefore(lines: readonly string[], index: number): Seam {
  const line = lines[index] ?? '';
  if (/^#{1,6}\s/.test(line)) return SEAM.top;
  const isAfterBlank = (lines[index - 1] ?? '').trim() === '';
  if (line.trim() === '') return SEAM.none;
  if (!isAfterBlank) return startsDefinition(lines, index) ? SEAM.blank : SEAM.none;
  if (/^[^\s)\]}]/.test(line)) return SEAM.top;
  return COMMENT_OR_MARK.test(line) || nameDefinedBy(line) !== null ? SEAM.inner : SEAM.blank;
}

/** Code without blank lines is cut at its top-level definitions. */
function startsDefinition(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (!/^\S/.test(line) || nameDefinedBy(line) === null) return false;
  return !COMMENT_OR_MARK.test(lines[index - 1] ?? '');
}

/** A comment, a decorator or an attribute: it stands above the definition that it belongs to. */
const COMMENT_OR_MARK = /^\s*(?:\/\/|\/\*|\*|#|--|"""|@|\[)/;
