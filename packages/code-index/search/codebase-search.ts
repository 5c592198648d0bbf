/** Answers a question about a code base with the passages that mention the question's concepts most. */

import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { compute } from '../../../machine/compute/compute.ts';
import { ToolFailure, toFileFailure } from '../../../machine/failure.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { type ResolvedPath, readContent, type Workspace } from '../../workspace/index.ts';
import { PASSAGE_TASKS } from '../tasks.ts';
import { findCandidates } from './candidates.ts';
import { CODEBASE_LIMITS } from './codebase/limits.ts';
import { Matcher } from './codebase/matcher.ts';
import { choosePassages, type PassageChoice } from './codebase/passages.ts';
import { linesOf, type PickedFile } from './codebase/pick.ts';
import { conceptsOf } from './codebase/question.ts';
import type { IndexQuestion, SearchIndex } from './search-index.ts';

export interface CodebaseSearch {
  /** In natural language. */
  readonly question: string;
  /** The folder or file to search. */
  readonly place: ResolvedPath;
  readonly workspace: Workspace;
  /** Without one, and where it cannot answer, the files themselves are searched. */
  readonly index?: SearchIndex | undefined;
  readonly isPrivate: boolean;
  /** As in {@link IndexQuestion}. */
  readonly waitMs?: number;
  /** As in {@link IndexQuestion}. */
  readonly needsWords?: boolean;
  readonly signal: AbortSignal;
}

export interface SearchAnswer extends PassageChoice {
  /** The number of files that mention any concept, also files without a passage. */
  readonly files: number;
  /** False when not every file was searched. */
  readonly isComplete: boolean;
  /** Whether vectors found them too, and not the words alone. */
  readonly byMeaning: boolean;
  /** False when only the beginning of the question was used. */
  readonly isWhole: boolean;
}

/** Failures are those of the place: not found, not a regular file, too large. */
export async function searchCodebase(search: CodebaseSearch): Promise<SearchAnswer> {
  const question = search.question.slice(0, CODEBASE_LIMITS.maxQuestionChars);
  const isWhole = question === search.question;
  return { ...(await searchFor({ ...search, question })), isWhole };
}

type FoundPassages = Omit<SearchAnswer, 'isWhole'>;

async function searchFor(search: CodebaseSearch): Promise<FoundPassages> {
  const matcher = new Matcher(conceptsOf(search.question));
  if (matcher.concepts.length === 0) return NOTHING;
  if (search.workspace.isUnindexed(search.place.path)) return NOTHING;
  const isFolder = (await lookAt(search.place)).isDirectory();
  if (!isFolder) return await searchFile(search);
  return (await searchIndexed(search)) ?? (await searchFolder(search, matcher));
}

/** In the index alone. Undefined without one that can answer. */
export async function searchIndexed(search: CodebaseSearch): Promise<FoundPassages | undefined> {
  const { index, workspace, place, question, isPrivate, needsWords } = search;
  const places = [workspace.nameOf(place.path)];
  const limit = CODEBASE_LIMITS.maxRankedChunks;
  const { waitMs = CODEBASE_LIMITS.vectorWaitMs } = search;
  const about = { workspace, question, places, needsWords };
  const asked: IndexQuestion = { ...about, limit, isPrivate, waitMs };
  const found = await index?.find(asked);
  if (!found) return undefined;
  const { isWhole: isComplete, byMeaning } = found;
  const { maxIndexedFiles, maxIndexedBytes } = CODEBASE_LIMITS;
  const names = [...new Set(found.chunks.map(({ path }) => path))].slice(0, maxIndexedFiles);
  const paths = names.map((name) => join(workspace.root, name));
  const files = await readCandidates(paths, maxIndexedBytes, search);
  const byName = new Map(files.map((file) => [file.name, linesOf(file)]));
  const scored = found.chunks.flatMap(({ path, score, ...chunk }) => {
    const lines = byName.get(path);
    return !lines ? [] : [{ file: { name: path, lines }, chunk, score }];
  });
  const ofFile = CODEBASE_LIMITS.maxChunksOfFile;
  return { ...choosePassages(scored, ofFile), files: byName.size, isComplete, byMeaning };
}

const NOTHING: FoundPassages = {
  passages: [],
  isAll: true,
  files: 0,
  isComplete: true,
  byMeaning: false,
};

async function searchFolder(search: CodebaseSearch, matcher: Matcher): Promise<FoundPassages> {
  const { question, place, workspace, signal } = search;
  const found = await findCandidates({ folder: place.path, workspace, question, matcher, signal });
  const files = await readCandidates(found.paths, CODEBASE_LIMITS.maxReadBytes, search);
  const ofFile = CODEBASE_LIMITS.maxChunksOfFile;
  const { rarity, count, isComplete } = found;
  const choice = await compute(
    PASSAGE_TASKS.pickPassages,
    { question, rarity, files, ofFile },
    signal,
  );
  return { ...choice, files: count, isComplete, byMeaning: false };
}

/** Reads files from the best on, as many as the limits allow. */
async function readCandidates(
  paths: readonly string[],
  maxBytes: number,
  search: CodebaseSearch,
): Promise<PickedFile[]> {
  const files: PickedFile[] = [];
  let bytes = 0;
  const { readsAtOnce } = CODEBASE_LIMITS;
  for (let at = 0; at < paths.length; at += readsAtOnce) {
    const some = paths.slice(at, at + readsAtOnce).map((path) => readCandidate(path, search));
    for (const file of await Promise.all(some)) {
      bytes += file?.bytes.length ?? 0;
      if (bytes > maxBytes) return files;
      if (file !== null) files.push(file);
    }
  }
  return files;
}

/** Null for a file that went away, grew or was closed since it was found. */
async function readCandidate(path: string, search: CodebaseSearch): Promise<PickedFile | null> {
  try {
    return await readFound(await search.workspace.resolve(path, 'read'), search.signal);
  } catch (error) {
    if (error instanceof ToolFailure) return null;
    throw error;
  }
}

async function searchFile({ question, place, signal }: CodebaseSearch): Promise<FoundPassages> {
  const request = { question, rarity: null, files: [await readFound(place, signal)] };
  const ofFile = CODEBASE_LIMITS.maxChunks;
  const choice = await compute(PASSAGE_TASKS.pickPassages, { ...request, ofFile }, signal);
  const files = Math.min(choice.passages.length, 1);
  return { ...choice, files, isComplete: true, byMeaning: false };
}

async function readFound(place: ResolvedPath, signal: AbortSignal): Promise<PickedFile> {
  signal.throwIfAborted();
  const { size } = await lookAt(place);
  if (size > CODEBASE_LIMITS.maxFileBytes) throw tooLarge(place, size);
  const { bytes } = await readContent(place, signal);
  return { name: place.name, bytes };
}

async function lookAt({ path, name }: ResolvedPath): Promise<Stats> {
  return await lstat(path).catch((error: unknown) => {
    throw toFileFailure(error, name);
  });
}

function tooLarge({ name }: ResolvedPath, size: number): ToolFailure {
  return new ToolFailure(
    'FILE_TOO_LARGE',
    `${nameInLine(name)} has ${size} bytes, more than the ${CODEBASE_LIMITS.maxFileBytes} that are looked into: search it with grep.`,
  );
}
