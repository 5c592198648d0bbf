/** Ranks the chunks of an index by a question. */

import { INDEX_LIMITS } from './limits.ts';
import { type FileKind, weightOfKind } from './search/codebase/kinds.ts';
import { conceptsOf, isWeak } from './search/codebase/question.ts';
import { type ChunkId, fileOf, type Store } from './store.ts';
import { withSynonyms } from './synonyms.ts';
import { indexWords } from './words.ts';

/** A file as the query needs it. */
export interface RankedFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly bytes: number;
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

/** What the chunks of one file say together. */
interface FileEvidence {
  readonly path: string;
  /** A factor by the file's kind and length. */
  readonly weight: number;
  readonly whole: Evidence;
  /** What the file's name says. */
  named: number;
}

/** What was found; null for a file that does not count. */
interface FoundEvidence {
  readonly chunks: ReadonlyMap<ChunkId, Evidence>;
  readonly files: ReadonlyMap<number, FileEvidence | null>;
}

/**
 * BM25 of each concept, of which the best word counts: many words for one thing are no more evidence than one. Words
 * that are everywhere, and the names of files, only count for the best that the others have found, because they would
 * take too long.
 */
export function rank(store: Store, query: Query): Ranking {
  const concepts = conceptsOf(query.question).map((concept) => ({
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
  const chunks = new Map<ChunkId, Evidence>();
  for (const { concept, word, count, weight } of selective) {
    // SQLite's score has this factor for how rare the word is.
    const idf = Math.max(1e-6, Math.log((all - count + 0.5) / (count + 0.5)));
    for (const { id, score } of store.chunksWith(word)) {
      const evidence = chunks.get(id) ?? concepts.map(() => 0);
      evidence[concept] = Math.max(evidence[concept] ?? 0, (weight * -score) / idf);
      chunks.set(id, evidence);
    }
  }
  const found: FoundEvidence = { chunks, files: filesOf(chunks, query) };
  const named = noteNames(best(found, INDEX_LIMITS.maxNamed), terms);
  const leaders = noteCommon(best(named, query.limit), common, store);
  return scored(leaders, query.limit);
}

/** Adds what the names of the files say. */
function noteNames(found: FoundEvidence, terms: readonly Term[]): FoundEvidence {
  for (const file of found.files.values()) {
    if (file) file.named = evidenceOfPath(file.path, terms);
  }
  return found;
}

function evidenceOfPath(path: string, terms: readonly Term[]): number {
  const nameAt = path.lastIndexOf('/') + 1;
  const folders = new Set(indexWords(path.slice(0, nameAt)).split(' '));
  const name = new Set(indexWords(path.slice(nameAt)).split(' '));
  const evidence: Evidence = [];
  for (const { concept, word, weight } of terms) {
    const share = (name.has(word) ? 1 : 0) + (folders.has(word) ? FOLDER_WEIGHT : 0);
    evidence[concept] = Math.max(evidence[concept] ?? 0, weight * share);
  }
  return sumOf(evidence);
}

/** Adds what words say that are everywhere. */
function noteCommon(found: FoundEvidence, common: readonly Term[], store: Store): FoundEvidence {
  for (const [chunk, evidence] of found.chunks) {
    const whole = found.files.get(fileOf(chunk))?.whole;
    for (const { concept, word, weight } of common) {
      const value = weight * USUAL_SCORE;
      if (value <= (evidence[concept] ?? 0) || !store.has(chunk, word)) continue;
      evidence[concept] = value;
      if (whole) whole[concept] = Math.max(whole[concept] ?? 0, value);
    }
  }
  return found;
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

function filesOf(
  chunks: ReadonlyMap<ChunkId, Evidence>,
  { question, fileWith }: Query,
): Map<number, FileEvidence | null> {
  const files = new Map<number, FileEvidence | null>();
  for (const [chunk, evidence] of chunks) {
    const id = fileOf(chunk);
    const known = files.get(id);
    known?.whole.forEach((value, at) => {
      known.whole[at] = Math.max(value, evidence[at] ?? 0);
    });
    if (known !== undefined) continue;
    const file = fileWith(id);
    files.set(id, file ? newFile(file, question, evidence) : null);
  }
  return files;
}

function newFile(
  { path, kind, bytes }: RankedFile,
  question: string,
  first: Evidence,
): FileEvidence {
  const length = Math.log(1 + bytes / INDEX_LIMITS.maxChunkChars);
  const weight = weightOfKind(kind, question) / (1 + LENGTH_WEIGHT * length);
  return { path, weight, whole: first.slice(), named: 0 };
}

/** The best chunks, and their files. */
function best(found: FoundEvidence, limit: number): FoundEvidence {
  const ids = scored(found, limit).map(([chunk]) => chunk);
  return {
    chunks: new Map(ids.map((id) => [id, found.chunks.get(id) ?? []])),
    files: new Map(ids.map((id) => [fileOf(id), found.files.get(fileOf(id)) ?? null])),
  };
}

function scored({ chunks, files }: FoundEvidence, limit: number): Ranking {
  const bonuses = new Map([...files].map(([id, file]) => [id, file && bonusOf(file)]));
  const scores: (readonly [ChunkId, number])[] = [];
  for (const [chunk, evidence] of chunks) {
    const id = fileOf(chunk);
    const file = files.get(id);
    if (file) scores.push([chunk, file.weight * (sumOf(evidence) + (bonuses.get(id) ?? 0))]);
  }
  const least = leastOf(scores, limit);
  const leaders = scores.filter(([, score]) => score >= least);
  return leaders.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit);
}

/** The score of the last one of so many: sorting thousands of pairs takes ten times as long as their scores alone. */
function leastOf(scores: Ranking, limit: number): number {
  const all = Float64Array.from(scores, ([, score]) => score);
  return all.sort().at(-limit) ?? Number.NEGATIVE_INFINITY;
}

function bonusOf({ whole, named }: FileEvidence): number {
  return FILE_WEIGHT * sumOf(whole) + named;
}

function sumOf(evidence: Evidence): number {
  return evidence.reduce((sum, value) => sum + value, 0);
}

/** What BM25 gives a word that is in a chunk, without its rarity, in the middle. */
const USUAL_SCORE = 1;

/** As in packages/code-index/search/codebase/question.ts: a shorter beginning finds too much. */
const SHORTEST_BEGINNING = 4;
const BEGINNING_WEIGHT = 0.4;
/** Only the question's own words count as beginnings. */
const LEAST_WEIGHT = 0.65;

/** A word that most questions could have says little about this one. */
const WEAK_WEIGHT = 0.5;

/** A question's rarest word is often only the asker's own. Without this it would outweigh all others together. */
const COMMONNESS = 300;

/** The subject of one question is often spread over a file. */
const FILE_WEIGHT = 0.15;

/** A folder says less about a file than its name does. */
const FOLDER_WEIGHT = 0.3;

/** A long file has something about everything: the best of many chunks is better by chance alone. */
const LENGTH_WEIGHT = 0.08;
