/** Ranks the chunks of an index by a question. */
import { type FileKind, weightOfKind } from '../search/codebase/kinds.ts';
import { conceptsOf, isWeak } from '../search/codebase/question.ts';
import { INDEX_LIMITS } from './limits.ts';
import { type ChunkId, fileOf, type Store } from './store.ts';
import { withSynonyms } from './synonyms.ts';

/** A file as the query needs it. */
export interface RankedFile {
  readonly path: string;
  readonly kind: FileKind;
}

export interface Query {
  readonly question: string;
  /** By its id in the store; undefined for a file that does not count. */
  readonly fileWith: (id: number) => RankedFile | undefined;
  /** The most chunks that are returned. */
  readonly limit: number;
}

/** Chunks, the best first. Scores are comparable within one question only. */
export type Ranking = readonly (readonly [ChunkId, score: number])[];

/** A word of the index that stands for a concept of the question, in how many chunks it is, and what it counts for. */
interface Term {
  readonly concept: number;
  readonly word: string;
  readonly count: number;
  readonly weight: number;
}

/** What a chunk says about each concept, in the order of the question. */
type Evidence = number[];

/**
 * BM25 of each concept, of which the best word counts: many words for one thing are no more evidence than one. Words
 * that are everywhere only count for the chunks that the others have found, because they would take too long.
 */
export function rank(store: Store, { question, fileWith, limit }: Query): Ranking {
  const concepts = conceptsOf(question).map((concept) => ({
    words: withSynonyms(concept),
    importance: isWeak(concept) ? WEAK_WEIGHT : 1,
  }));
  const all = store.chunkCount;
  const terms = concepts.flatMap(({ words, importance }, concept) =>
    termsOf(store, words).map(({ word, count, weight }): Term => {
      const rarity = Math.log(1 + (all - count + 0.5) / (count + COMMONNESS));
      return { concept, word, count, weight: weight * importance * rarity };
    }),
  );
  const { selective, common } = divide(terms);
  const found = new Map<ChunkId, Evidence>();
  for (const term of selective) {
    for (const [chunk, score] of store.chunksWith(term.word)) {
      const evidence = found.get(chunk) ?? concepts.map(() => 0);
      note(evidence, term, score, all);
      found.set(chunk, evidence);
    }
  }
  const by = { question, fileWith, limit };
  const first = ranked(found, by);
  if (common.length === 0) return first;
  const leaders = new Map(first.map(([chunk]) => [chunk, found.get(chunk) ?? []]));
  for (const [chunk, evidence] of leaders) {
    for (const { concept, word, weight } of common) {
      const value = weight * USUAL_SCORE;
      if (value <= (evidence[concept] ?? 0) || !store.has(chunk, word)) continue;
      evidence[concept] = value;
    }
  }
  return ranked(leaders, by);
}

function note(
  evidence: Evidence,
  { concept, count, weight }: Term,
  score: number,
  all: number,
): void {
  // SQLite's score has this factor for how rare the word is.
  const idf = Math.max(1e-6, Math.log((all - count + 0.5) / (count + 0.5)));
  evidence[concept] = Math.max(evidence[concept] ?? 0, (weight * -score) / idf);
}

/** The words of the index for one concept: its own ones, and longer ones that begin like them. */
function termsOf(store: Store, words: ReadonlyMap<string, number>): Omit<Term, 'concept'>[] {
  const terms = new Map<string, Omit<Term, 'concept'>>();
  for (const [variant, weight] of words) {
    const isBeginning = variant.length >= SHORTEST_BEGINNING && weight >= LEAST_WEIGHT;
    for (const { word, count } of store.wordsLike(variant, isBeginning)) {
      const own = word === variant ? weight : weight * BEGINNING_WEIGHT;
      if (own > (terms.get(word)?.weight ?? 0)) terms.set(word, { word, count, weight: own });
    }
  }
  return [...terms.values()];
}

function divide(terms: readonly Term[]): { selective: Term[]; common: Term[] } {
  let rows = 0;
  const selective: Term[] = [];
  const common: Term[] = [];
  for (const term of [...terms].sort((a, b) => a.count - b.count)) {
    rows += term.count;
    if (rows <= INDEX_LIMITS.maxRows || selective.length === 0) selective.push(term);
    else common.push(term);
  }
  return { selective, common };
}

function ranked(
  found: ReadonlyMap<ChunkId, Evidence>,
  { question, fileWith, limit }: Query,
): Ranking {
  const best = new Map<number, { readonly weight: number; readonly evidence: Evidence } | null>();
  for (const [chunk, evidence] of found) {
    const id = fileOf(chunk);
    const known = best.get(id);
    if (known)
      known.evidence.forEach((value, at) => {
        known.evidence[at] = Math.max(value, evidence[at] ?? 0);
      });
    if (known !== undefined) continue;
    const file = fileWith(id);
    const weight = file && weightOfKind(file.kind, question);
    best.set(id, weight === undefined ? null : { weight, evidence: evidence.slice() });
  }
  const scored: (readonly [ChunkId, number])[] = [];
  const wholes = new Map([...best].map(([id, file]) => [id, file && sumOf(file.evidence)]));
  for (const [chunk, evidence] of found) {
    const id = fileOf(chunk);
    const file = best.get(id);
    if (!file) continue;
    const score = sumOf(evidence) + FILE_WEIGHT * (wholes.get(id) ?? 0);
    scored.push([chunk, file.weight * score]);
  }
  scored.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return scored.slice(0, limit);
}

function sumOf(evidence: Evidence): number {
  return evidence.reduce((sum, value) => sum + value, 0);
}

/** What BM25 gives a word that is in a chunk, without its rarity, in the middle. */
const USUAL_SCORE = 1;

/** As in bridge/search/codebase/question.ts: a shorter beginning finds too much. */
const SHORTEST_BEGINNING = 4;
const BEGINNING_WEIGHT = 0.4;
/** Only the question's own words count as beginnings. */
const LEAST_WEIGHT = 0.65;

/** A word that most questions could have says little about this one. */
const WEAK_WEIGHT = 0.3;

/** A question's rarest word is often only the asker's own. Without this it would outweigh all others together. */
const COMMONNESS = 60;

/** The subject of one question is often spread over a file. */
const FILE_WEIGHT = 0.15;
