/** Finds the files that may answer a question, by the matches that ripgrep counts in them. */
import { join } from 'node:path';
import { Turns } from '../../../machine/compute/turns.ts';
import type { Workspace } from '../../workspace/index.ts';
import { kindOfPath, weightOfKind } from './codebase/kinds.ts';
import { CODEBASE_LIMITS } from './codebase/limits.ts';
import { addMentions, type Matcher, type Mentions } from './codebase/matcher.ts';
import type { Concept } from './codebase/question.ts';
import { countDocuments, type Rarity, rarityOf, scoreOf } from './codebase/rank.ts';
import { listFiles } from './file-list.ts';
import type { IgnoreRules } from './ignore-files.ts';
import { runRipgrep } from './ripgrep.ts';
import { searchUnderRules } from './ruled-search.ts';

export interface CandidateSearch {
  /** Absolute and resolved. */
  readonly folder: string;
  readonly workspace: Workspace;
  readonly question: string;
  readonly matcher: Matcher;
  readonly signal: AbortSignal;
}

export interface Candidates {
  /**
   * Absolute paths of the files to read, the most promising first. Leaves out ignored files and files that are not
   * shown.
   */
  readonly paths: readonly string[];
  /** The number of all candidates. */
  readonly count: number;
  /** How rare each concept is among all files of the folder. */
  readonly rarity: Rarity;
  /** False when the time or a bound ended the search before it had searched every file. */
  readonly isComplete: boolean;
}

/** All files that mention a concept in their text or their path, ranked. */
export async function findCandidates(search: CandidateSearch): Promise<Candidates> {
  const [files, hits] = await searchUnderRules({ ...search, target: './' }, (rules, signal) =>
    Promise.all([listShown({ ...search, rules, signal }), countHits({ ...search, rules, signal })]),
  );
  const none = search.matcher.concepts.map(() => 0);
  const bodyOf = ({ name }: ShownFile) => hits.byName.get(name) ?? none;
  const having = countDocuments(files.map(bodyOf), none.length);
  const rarity = rarityOf(having, files.length);
  const best = new BestPaths();
  const turns = new Turns();
  for (const file of files) {
    best.add(file.path, scoreFile(file, bodyOf(file), rarity, search));
    if (turns.isDue) await turns.take();
  }
  const { paths, count } = best;
  return { paths, count, rarity, isComplete: hits.isComplete };
}

function scoreFile(
  { shown }: ShownFile,
  body: Mentions,
  rarity: Rarity,
  { matcher, question }: CandidateSearch,
): number {
  const path = matcher.mentionsIn(shown);
  const fields = { body, names: body.map(() => 0), path, relativeLength: 1 };
  return scoreOf(fields, rarity) * weightOfKind(kindOfPath(shown), question);
}

/** The best paths so far, and the number of all. Keeps only a few of many thousand, so it does not sort all of them. */
class BestPaths {
  readonly #best: { readonly path: string; readonly score: number }[] = [];
  count = 0;

  get paths(): string[] {
    return this.#best.map(({ path }) => path);
  }

  /** Of equal scores, the path that is first in the alphabet wins. */
  add(path: string, score: number): void {
    if (score <= 0) return;
    this.count++;
    const isWorse = (other: { path: string; score: number }) =>
      other.score < score || (other.score === score && other.path > path);
    const at = this.#best.findIndex(isWorse);
    this.#best.splice(at === -1 ? this.#best.length : at, 0, { path, score });
    if (this.#best.length > CODEBASE_LIMITS.maxReadFiles) this.#best.pop();
  }
}

interface RuledSearch extends CandidateSearch {
  readonly rules: IgnoreRules;
}

/** A file's path in three forms: absolute, relative to the folder, and relative to the workspace. */
interface ShownFile {
  readonly path: string;
  readonly name: string;
  readonly shown: string;
}

async function listShown({ folder, workspace, rules, signal }: RuledSearch): Promise<ShownFile[]> {
  const shown: ShownFile[] = [];
  const turns = new Turns();
  for (const name of await listFiles({ folder, hidden: true, rules, signal })) {
    const path = join(folder, name);
    const isFound = workspace.mayFind(path) && !workspace.isUnindexed(path);
    if (isFound) shown.push({ name, path, shown: workspace.nameOf(path) });
    if (turns.isDue) await turns.take();
  }
  return shown;
}

interface Hits {
  /** Mentions by the path relative to the folder. */
  readonly byName: ReadonlyMap<string, Mentions>;
  readonly isComplete: boolean;
}

/** Counts in every file. When the time is up, the counts so far still apply. */
async function countHits(search: RuledSearch): Promise<Hits> {
  const byName = new Map<string, Mentions>();
  const timeUp = AbortSignal.timeout(CODEBASE_LIMITS.findMs);
  const signal = AbortSignal.any([search.signal, timeUp]);
  try {
    return { byName, isComplete: await countInto(byName, { ...search, signal }) };
  } catch (error) {
    search.signal.throwIfAborted();
    if (timeUp.aborted) return { byName, isComplete: false };
    throw error;
  }
}

/** False when it stopped at the bound. The matcher decides what a mention is. */
async function countInto(
  byName: Map<string, Mentions>,
  { folder, matcher, rules, signal }: RuledSearch,
): Promise<boolean> {
  const flags = [...COUNTING, `--regexp=${patternOf(matcher.concepts)}`];
  let name = '';
  let count = 0;
  const search = { folder, flags, target: './', separator: '\n', rules, signal } as const;
  for await (const records of runRipgrep(search)) {
    for (const record of records) {
      if (typeof record !== 'string' || record === '') continue;
      const [path, match] = splitHeading(record);
      if (path !== null) name = path;
      const before = byName.get(name);
      const mentions = matcher.mentionsIn(match);
      byName.set(name, before === undefined ? mentions : addMentions(before, mentions));
      if (++count === CODEBASE_LIMITS.maxHits) return false;
    }
  }
  return true;
}

/**
 * With a heading ripgrep writes a file's name and a NUL before its first match only, and an empty line after the last.
 */
const COUNTING = [
  '--only-matching',
  '--no-line-number',
  '--heading',
  '--null',
  '--hidden',
  `--max-count=${CODEBASE_LIMITS.maxHitLines}`,
  `--max-filesize=${CODEBASE_LIMITS.maxFileBytes}`,
];

function splitHeading(record: string): [path: string | null, match: string] {
  const at = record.indexOf('\0');
  if (at === -1) return [null, record];
  return [record.slice(0, at).replace(/^\.\//, ''), record.slice(at + 1)];
}

/**
 * Matches a word, or a part of an identifier, that begins like one of the concepts, up to its end. It may follow a
 * boundary or an underscore, begin with a capital as in camelCase, or be all capitals.
 */
function patternOf(concepts: readonly Concept[]): string {
  const stems = [...new Set(concepts.flatMap((concept) => [...concept.keys()]))];
  const small = anyOf(stems);
  const capital = anyOf(stems.map((stem) => stem.charAt(0).toUpperCase() + stem.slice(1)));
  const capitals = anyOf(stems.map((stem) => stem.toUpperCase()));
  return `(?:\\b|_)${small}\\p{Ll}*|${capital}\\p{Ll}*|(?:\\b|_)${capitals}\\p{Lu}*`;
}

/** A stem that ends in `iz` also matches the spelling with `is`; see stem in terms.ts. */
function anyOf(stems: readonly string[]): string {
  const spelt = stems.map((stem) => stem.replace(/iz$/, 'i[sz]').replace(/IZ$/, 'I[SZ]'));
  return `(?:${spelt.join('|')})`;
}
