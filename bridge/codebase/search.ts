/** Answers a question about a code base with the places in it that speak most of what was asked. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { CODEBASE_LIMITS } from '../../shared/limits.ts';
import { decode } from '../edits/encoding.ts';
import { countLines, lineTexts } from '../edits/lines.ts';
import { ToolFailure, toFileFailure } from '../sandbox/failure.ts';
import { readImage } from '../sandbox/files.ts';
import type { Place, Workspace } from '../sandbox/workspace.ts';
import { findCandidates } from './candidates.ts';
import { Matcher } from './matcher.ts';
import { type Choice, choosePassages } from './passages.ts';
import { conceptsOf } from './question.ts';
import { countDocuments, rarityOf } from './rank.ts';
import { type ReadFile, type ScoredChunk, scoreChunks, takeApart } from './score.ts';

export interface CodebaseSearch {
  /** In natural language. */
  readonly question: string;
  /** The folder or file to search. */
  readonly place: Place;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export interface Answer extends Choice {
  /** Files that mention any of what was asked, also those that no passage is of. */
  readonly files: number;
  /** False when not every file was looked at. */
  readonly isComplete: boolean;
}

/**
 * Searches what is on disk at this moment; nothing is kept between two searches. Failures are those of the place: not
 * found, not a regular file, too large.
 */
export async function searchCodebase(search: CodebaseSearch): Promise<Answer> {
  const matcher = new Matcher(conceptsOf(search.question));
  if (matcher.concepts.length === 0) return NOTHING;
  const isFolder = (await lookAt(search.place)).isDirectory();
  return isFolder ? await searchFolder(search, matcher) : await searchFile(search, matcher);
}

const NOTHING: Answer = { passages: [], isAll: true, files: 0, isComplete: true };

async function searchFolder(search: CodebaseSearch, matcher: Matcher): Promise<Answer> {
  const { question, place, workspace, signal } = search;
  const found = await findCandidates({ folder: place.path, workspace, question, matcher, signal });
  const chunks: ScoredChunk[] = [];
  let bytes = 0;
  for (const path of found.paths.slice(0, CODEBASE_LIMITS.maxReadFiles)) {
    const file = await readCandidate(path, search);
    bytes += file?.bytes ?? 0;
    if (bytes > CODEBASE_LIMITS.maxReadBytes) break;
    if (file !== null)
      chunks.push(...scoreChunks(takeApart(file, matcher), found.rarity, question));
  }
  const { isComplete } = found;
  return { ...choosePassages(chunks), files: found.paths.length, isComplete };
}

/** Null for a file that went away, grew or was closed since it was found, and for one that is not text. */
async function readCandidate(path: string, search: CodebaseSearch): Promise<ReadFile | null> {
  try {
    return await readText(await search.workspace.resolve(path, 'read'), search.signal);
  } catch (error) {
    if (error instanceof ToolFailure) return null;
    throw error;
  }
}

/** A file alone: how rare a concept is, is a matter of its own chunks. */
async function searchFile(search: CodebaseSearch, matcher: Matcher): Promise<Answer> {
  const file = await readText(search.place, search.signal);
  if (file === null) return NOTHING;
  const parts = takeApart(file, matcher);
  const bodies = parts.chunks.map(({ body }) => body);
  const rarity = rarityOf(countDocuments(bodies, matcher.concepts.length), bodies.length);
  const chunks = scoreChunks(parts, rarity, search.question);
  const choice = choosePassages(chunks, CODEBASE_LIMITS.maxChunks);
  return { ...choice, files: Math.min(chunks.length, 1), isComplete: true };
}

/** Null for what is not text. */
async function readText(place: Place, signal: AbortSignal): Promise<ReadFile | null> {
  signal.throwIfAborted();
  const { size } = await lookAt(place);
  if (size > CODEBASE_LIMITS.maxFileBytes) throw tooLarge(place, size);
  const { bytes } = await readImage(place, signal);
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return null;
  const lines = lineTexts(decoded.text).slice(0, countLines(decoded.text));
  return { name: place.name, bytes: bytes.length, lines };
}

async function lookAt({ path, name }: Place): Promise<Stats> {
  return await lstat(path).catch((error: unknown) => {
    throw toFileFailure(error, name);
  });
}

function tooLarge({ name }: Place, size: number): ToolFailure {
  return new ToolFailure(
    'FILE_TOO_LARGE',
    `${name} has ${size} bytes, more than the ${CODEBASE_LIMITS.maxFileBytes} that are looked into: search it with grep.`,
  );
}
