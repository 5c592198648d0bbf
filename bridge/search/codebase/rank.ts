/** BM25 over several fields, with a reward for what speaks of everything that was asked. */
import { addMentions, type Mentions } from './matcher.ts';

/** How rare each concept of the question is, in the question's order. */
export type Rarity = readonly number[];

/** The rarity of concepts of which `having` says in how many of all `documents` they are mentioned. */
export function rarityOf(having: readonly number[], documents: number): Rarity {
  return having.map((count) => Math.log(1 + (documents - count + 0.5) / (count + COMMONNESS)));
}

/**
 * BM25 has 0.5 here. A question's rarest word is often just the asker's own ("recognised", "computed"), and would then
 * outweigh all others together.
 */
const COMMONNESS = 3;

/** In how many of these documents each concept is mentioned. */
export function countDocuments(documents: readonly Mentions[], concepts: number): number[] {
  const having = new Array<number>(concepts).fill(0);
  for (const mentions of documents) {
    mentions.forEach((weight, index) => {
      if (weight > 0) having[index] = (having[index] ?? 0) + 1;
    });
  }
  return having;
}

/** What is known of a file or chunk. */
export interface Fields {
  readonly body: Mentions;
  /** In the names it defines. */
  readonly names: Mentions;
  /** In its path. */
  readonly path: Mentions;
  /** Its length over the usual one; 1 where it is not known. */
  readonly relativeLength: number;
}

/** At least 0, and comparable only within one question. */
export function scoreOf(fields: Fields, rarity: Rarity): number {
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

/** BM25's k1 and b, at their usual values: further mentions add less and less; long texts mention more by chance. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.6;

/** A name it defines tells more of what a chunk is about than five other lines, its path more than two. */
const NAME_WEIGHT = 4;
const PATH_WEIGHT = 2;

/** The share of a score that falls away with the concepts that are not mentioned. */
const COVERAGE_WEIGHT = 0.6;
