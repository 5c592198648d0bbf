/** Chooses which chunks to show, and joins those that touch. */
import { CODEBASE_LIMITS } from '../../shared/limits.ts';
import type { ReadFile, ScoredChunk } from './score.ts';

/** Lines of a file that are worth showing, from `start` up to, but not with, `end`; both counted from 0. */
export interface Passage {
  readonly file: ReadFile;
  readonly start: number;
  readonly end: number;
  /** Of its best chunk. */
  readonly score: number;
}

export interface Choice {
  /** The best first. */
  readonly passages: readonly Passage[];
  /** Whether every chunk is in one of them. */
  readonly isAll: boolean;
}

/** Not too many chunks, at most `ofFile` of one file, and none that is far worse than the best. */
export function choosePassages(
  chunks: readonly ScoredChunk[],
  ofFile: number = CODEBASE_LIMITS.maxChunksOfFile,
): Choice {
  const ranked = [...chunks].sort(byScore);
  const least = (ranked[0]?.score ?? 0) * LEAST_SHARE;
  const taken = new Map<ReadFile, ScoredChunk[]>();
  let count = 0;
  for (const scored of ranked) {
    if (scored.score < least || count === CODEBASE_LIMITS.maxChunks) break;
    const others = taken.get(scored.file) ?? [];
    if (others.length === ofFile) continue;
    taken.set(scored.file, [...others, scored]);
    count++;
  }
  const passages = [...taken.values()].flatMap(joinTouching).sort((a, b) => b.score - a.score);
  return { passages, isAll: count === chunks.length };
}

/** Below this share of the best score it is mostly chance. */
const LEAST_SHARE = 0.35;

/** Equal scores in the order of paths and lines, so that the same question has the same answer. */
function byScore(a: ScoredChunk, b: ScoredChunk): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.file.name !== b.file.name) return a.file.name < b.file.name ? -1 : 1;
  return a.chunk.start - b.chunk.start;
}

/** The chunks of one file as passages. */
function joinTouching(chunks: readonly ScoredChunk[]): Passage[] {
  const joined: Passage[] = [];
  for (const { file, chunk, score } of [...chunks].sort((a, b) => a.chunk.start - b.chunk.start)) {
    const before = joined.at(-1);
    if (before?.end !== chunk.start) joined.push({ file, ...chunk, score });
    else joined.splice(-1, 1, { ...before, end: chunk.end, score: Math.max(before.score, score) });
  }
  return joined;
}
