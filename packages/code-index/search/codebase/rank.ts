/** BM25 over several fields, with a reward for text that mentions every concept of the question. */
import { addMentions, type Mentions } from './matcher.ts';

/** How rare each concept of the question is, in the question's order. */
export type Rarity = readonly number[];

/** The rarity of each concept. `having` holds the number of documents that mention it, out of all `documents`. */
export function rarityOf(having: readonly number[], documents: number): Rarity {
  return having.map((count) => Math.log(1 + (documents - count + 0.5) / (count + COMMONNESS)));
}

/**
 * BM25 uses 0.5. A question's rarest word is often only the asker's own ("recognised", "computed"). With 0.5 it would
 * outweigh all others together.
 */
const COMMONNESS = 3;

/** The number of documents that mention each concept. */
export function countDocuments(documents: readonly Mentions[], concepts: number): number[] {
  const having = new Array<number>(concepts).fill(0);
  for (const mentions of documents) {
    mentions.forEach((weight, index) => {
      if (weight > 0) having[index] = (having[index] ?? 0) + 1;
    });
  }
  return having;
}

/** The mentions in a file or chunk. */
export interface MentionFields {
  readonly body: Mentions;
  /** Mentions in the names that it defines. */
  readonly names: Mentions;
  /** Mentions in its path. */
  readonly path: Mentions;
  /** Its length divided by the usual length; 1 where it is unknown. */
  readonly relativeLength: number;
}

/** At least 0. Comparable only within one question. */
export function scoreOf(fields: MentionFields, rarity: Rarity): number {
  const named = addMentions(fields.body, fields.names, NAME_WEIGHT);
  const mentions = addMentions(named, fields.path, PATH_WEIGHT);
  const room = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * fields.relativeLength);
  let score = 0;
  let covered = 0;
  let asked = 0;
  rarity.forEach((weight, index) => {
    const mentioned = mentions[index] ?? 0;
    score += (weight * mentioned * (SATURATION + 1)) / (mentioned + room);
    covered += weight * Math.min(1, mentioned);
    asked += weight;
  });
  if (asked === 0) return 0;
  return score * (1 - COVERAGE_WEIGHT + COVERAGE_WEIGHT * (covered / asked));
}

/** BM25's k1 and b. Each further mention adds less, and a long text mentions more by chance. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.6;

/** A defined name says more about a chunk than five other mentions, its path more than two. */
const NAME_WEIGHT = 4;
const PATH_WEIGHT = 2;

/** The share of a score that depends on how many concepts are mentioned. */
const COVERAGE_WEIGHT = 0.6;
