/** Joins what words and vectors say of chunks. */
import type { Ranking } from './query.ts';
import { type ChunkId, fileOf } from './store.ts';

/**
 * Both count as shares of their best: places alone would make the second as good as the first. A file has the best of
 * its chunks in each, and the first of its chunks stands for it. `nearness` goes up to 1.
 */
export function joined(byWords: Ranking, nearness: ReadonlyMap<ChunkId, number>): Ranking {
  const best = byWords[0]?.[1] ?? 1;
  const words = new Map(byWords.map(([chunk, score]) => [chunk, score / best]));
  const files = new Map<number, { word: number; near: number }>();
  const chunks = [...new Set([...words.keys(), ...nearness.keys()])].map((chunk) => {
    const [word, near] = [words.get(chunk) ?? 0, nearness.get(chunk) ?? 0];
    const file = files.get(fileOf(chunk)) ?? { word: 0, near: 0 };
    const both = { word: Math.max(word, file.word), near: Math.max(near, file.near) };
    files.set(fileOf(chunk), both);
    return [chunk, mixed(word, near)] as const;
  });
  const ranked = chunks.sort(byScore).map(([chunk, score]) => {
    const file = files.get(fileOf(chunk));
    files.delete(fileOf(chunk));
    return [chunk, file ? mixed(file.word, file.near) : score] as const;
  });
  return ranked.sort(byScore);
}

function mixed(word: number, near: number): number {
  return (1 - VECTOR_WEIGHT) * word + VECTOR_WEIGHT * near;
}

/** Words of the code are better evidence than vectors, and those of a weak model must not hide them. */
const VECTOR_WEIGHT = 0.4;

function byScore(a: readonly [ChunkId, number], b: readonly [ChunkId, number]): number {
  return b[1] - a[1] || a[0] - b[0];
}
