/** Chooses the chunks to show, and joins chunks that touch. */
import { CODEBASE_LIMITS } from './limits.ts';
import type { ReadFile, ScoredChunk } from './score.ts';

/** Lines of a file that are worth showing. */
export interface Passage {
  /** The file's name, relative to the workspace. */
  readonly name: string;
  /** The index of the first line, counted from 0. */
  readonly start: number;
  readonly lines: readonly string[];
}

export interface PassageChoice {
  /** The best first. */
  readonly passages: readonly Passage[];
  /** Whether the passages include every chunk. */
  readonly isAll: boolean;
}

/** At most `maxChunks` chunks, at most `ofFile` of one file, and none that scores far below the best. */
export function choosePassages(
  chunks: readonly ScoredChunk[],
  ofFile: number = CODEBASE_LIMITS.maxChunksOfFile,
): PassageChoice {
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
  const joined = [...taken.values()].flatMap(joinTouching).sort((a, b) => b.score - a.score);
  return { passages: joined.map(toPassage), isAll: count === chunks.length };
}

function toPassage({ file, chunk: { start, end } }: ScoredChunk): Passage {
  return { name: file.name, start, lines: file.lines.slice(start, end) };
}

/** Below this share of the best score, a match is mostly chance. */
const LEAST_SHARE = 0.35;

/** Orders equal scores by path and line, so that the same question has the same answer. */
function byScore(a: ScoredChunk, b: ScoredChunk): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.file.name !== b.file.name) return a.file.name < b.file.name ? -1 : 1;
  return a.chunk.start - b.chunk.start;
}

/** Joins touching chunks of one file. The joined chunk has the score of the best. */
function joinTouching(chunks: readonly ScoredChunk[]): ScoredChunk[] {
  const joined: ScoredChunk[] = [];
  for (const scored of [...chunks].sort((a, b) => a.chunk.start - b.chunk.start)) {
    const before = joined.at(-1);
    if (before?.chunk.end !== scored.chunk.start) joined.push(scored);
    else joined.splice(-1, 1, joinedOf(before, scored));
  }
  return joined;
}

function joinedOf(before: ScoredChunk, after: ScoredChunk): ScoredChunk {
  const chunk = { start: before.chunk.start, end: after.chunk.end };
  return { file: before.file, chunk, score: Math.max(before.score, after.score) };
}
