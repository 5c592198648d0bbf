/** Scores the chunks of one file by the mentions in the chunks and in the whole file. */
import { cutIntoChunks, type FileChunk } from './chunks.ts';
import { nameDefinedBy } from './definitions.ts';
import { kindOfPath, looksGenerated, weightOfKind } from './kinds.ts';
import { addMentions, type Matcher, type Mentions } from './matcher.ts';
import { type MentionFields, type Rarity, scoreOf } from './rank.ts';

/** A text file as it was read. */
export interface ReadFile {
  /** Relative to the workspace, with `/`. */
  readonly name: string;
  /** Without line ends, and without the empty line after the last line end. */
  readonly lines: readonly string[];
}

/** A file in chunks, each with its mentions. */
export interface FileParts {
  readonly file: ReadFile;
  readonly path: Mentions;
  readonly chunks: readonly ChunkMentions[];
}

interface ChunkMentions {
  readonly chunk: FileChunk;
  readonly body: Mentions;
  readonly names: Mentions;
  readonly relativeLength: number;
}

export interface ScoredChunk {
  readonly file: ReadFile;
  readonly chunk: FileChunk;
  readonly score: number;
}

/** Cuts the file into chunks and counts their mentions. Leaves out chunks of blank lines. */
export function takeApart(file: ReadFile, matcher: Matcher): FileParts {
  const chunks = cutIntoChunks(file.lines)
    .map((chunk) => ({ chunk, lines: file.lines.slice(chunk.start, chunk.end) }))
    .filter(({ lines }) => lines.some((line) => line.trim() !== ''))
    .map(({ chunk, lines }) => ({ chunk, ...countIn(lines, matcher) }));
  return { file, path: matcher.mentionsIn(file.name), chunks };
}

function countIn(lines: readonly string[], matcher: Matcher): Omit<ChunkMentions, 'chunk'> {
  const text = lines.join('\n');
  const names = lines.flatMap((line) => nameDefinedBy(line) ?? []).join('\n');
  return {
    body: matcher.mentionsIn(text),
    names: matcher.mentionsIn(names),
    relativeLength: text.length / USUAL_CHUNK_CHARS,
  };
}

/**
 * The chunks that mention a concept, and the first chunk where only the path does. A part of the whole file's score is
 * added to each chunk's score.
 */
export function scoreChunks(parts: FileParts, rarity: Rarity, question: string): ScoredChunk[] {
  const { file, path, chunks } = parts;
  const kind = looksGenerated(file.lines) ? 'generated' : kindOfPath(file.name);
  const weight = weightOfKind(kind, question);
  const whole = scoreOf(wholeOf(parts), rarity);
  const isInPath = path.some((count) => count > 0);
  return chunks
    .filter(({ chunk, body }) => (chunk.start === 0 && isInPath) || body.some((count) => count > 0))
    .map(({ chunk, ...own }) => {
      const score = scoreOf({ ...own, path }, rarity) + FILE_WEIGHT * whole;
      return { file, chunk, score: score * weight };
    });
}

function wholeOf({ path, chunks }: FileParts): MentionFields {
  const none = path.map(() => 0);
  return {
    path,
    body: chunks.reduce<Mentions>((sum, { body }) => addMentions(sum, body), none),
    names: chunks.reduce<Mentions>((sum, { names }) => addMentions(sum, names), none),
    relativeLength: chunks.reduce((sum, { relativeLength }) => sum + relativeLength, 0),
  };
}

/** In UTF-16 units: some 35 lines. */
const USUAL_CHUNK_CHARS = 1_200;

/** The subject of one question is often spread over a file. */
const FILE_WEIGHT = 0.3;
