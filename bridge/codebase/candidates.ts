/** Finds the files that may answer a question, by what ripgrep counts in them. */
import { join } from 'node:path';
import { CODEBASE_LIMITS } from '../../shared/limits.ts';
import type { Workspace } from '../sandbox/workspace.ts';
import { listFiles } from '../tools/file-list.ts';
import { runRipgrep } from '../tools/ripgrep.ts';
import { kindOfPath, weightOfKind } from './kinds.ts';
import { addMentions, type Matcher, type Mentions } from './matcher.ts';
import type { Concept } from './question.ts';
import { countDocuments, type Rarity, rarityOf, scoreOf } from './rank.ts';

export interface CandidateSearch {
  /** Absolute and resolved. */
  readonly folder: string;
  readonly workspace: Workspace;
  readonly question: string;
  readonly matcher: Matcher;
  readonly signal: AbortSignal;
}

export interface Candidates {
  /** Absolute paths, the most promising first; nothing ignored, and nothing the workspace does not show. */
  readonly paths: readonly string[];
  /** How rare each concept is among all files of the folder. */
  readonly rarity: Rarity;
  /** False when the time or a bound ended the search before every file was looked at. */
  readonly isComplete: boolean;
}

/** All files that mention a concept in their text or their path, ranked. */
export async function findCandidates(search: CandidateSearch): Promise<Candidates> {
  const { matcher, question } = search;
  const [files, hits] = await Promise.all([listShown(search), countHits(search)]);
  const none = matcher.concepts.map(() => 0);
  const bodyOf = ({ name }: ShownFile) => hits.byName.get(name) ?? none;
  const rarity = rarityOf(countDocuments(files.map(bodyOf), none.length), files.length);
  const ranked = files
    .map((file) => {
      const path = matcher.mentionsIn(file.shown);
      const fields = { body: bodyOf(file), names: none, path, relativeLength: 1 };
      const weight = weightOfKind(kindOfPath(file.shown), question);
      return { path: file.path, score: scoreOf(fields, rarity) * weight };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  return { paths: ranked.map(({ path }) => path), rarity, isComplete: hits.isComplete };
}

/** A file in three ways: absolute, relative to the folder, and relative to the workspace. */
interface ShownFile {
  readonly path: string;
  readonly name: string;
  readonly shown: string;
}

async function listShown({ folder, workspace, signal }: CandidateSearch): Promise<ShownFile[]> {
  const names = await listFiles({ folder, hidden: true, signal });
  return names
    .map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => workspace.mayShow(path))
    .map(({ name, path }) => ({ name, path, shown: workspace.nameOf(path) }));
}

interface Hits {
  /** By the path relative to the folder. */
  readonly byName: ReadonlyMap<string, Mentions>;
  readonly isComplete: boolean;
}

/** Counts in every file; what was counted when the time is up still counts. */
async function countHits(search: CandidateSearch): Promise<Hits> {
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

/** False when it stopped at the bound. The matcher has the last word on what is a mention. */
async function countInto(
  byName: Map<string, Mentions>,
  { folder, matcher, signal }: CandidateSearch,
): Promise<boolean> {
  const flags = [...COUNTING, `--regexp=${patternOf(matcher.concepts)}`];
  let name = '';
  let count = 0;
  for await (const record of runRipgrep({ folder, flags, target: './', separator: '\n', signal })) {
    if (record === null || record === '') continue;
    const [path, match] = splitHeading(record);
    if (path !== null) name = path;
    const before = byName.get(name);
    const mentions = matcher.mentionsIn(match);
    byName.set(name, before === undefined ? mentions : addMentions(before, mentions));
    if (++count === CODEBASE_LIMITS.maxHits) return false;
  }
  return true;
}

/** With a heading ripgrep puts a file's name and a NUL before its first match only, and an empty line after the last. */
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
 * Matches a word or a part of an identifier that begins like one of the concepts, to its end: after a boundary or an
 * underscore, with a capital as in the middle of camelCase, or all in capitals.
 */
function patternOf(concepts: readonly Concept[]): string {
  const stems = [...new Set(concepts.flatMap((concept) => [...concept.keys()]))];
  const small = anyOf(stems);
  const capital = anyOf(stems.map((stem) => stem.charAt(0).toUpperCase() + stem.slice(1)));
  const capitals = anyOf(stems.map((stem) => stem.toUpperCase()));
  return `(?:\\b|_)${small}\\p{Ll}*|${capital}\\p{Ll}*|(?:\\b|_)${capitals}\\p{Lu}*`;
}

/** A stem that ends in `iz` also stands for the spelling with `is`; see stem in terms.ts. */
function anyOf(stems: readonly string[]): string {
  const spelt = stems.map((stem) => stem.replace(/iz$/, 'i[sz]').replace(/IZ$/, 'I[SZ]'));
  return `(?:${spelt.join('|')})`;
}
