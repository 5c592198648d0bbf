/** Picks the best passages of some files. All values are plain data, because another thread may do the work. */
import { countLines, decode, lineTexts } from '../../../edits/text.ts';
import { Matcher } from './matcher.ts';
import { choosePassages, type PassageChoice } from './passages.ts';
import { conceptsOf } from './question.ts';
import { countDocuments, type Rarity, rarityOf } from './rank.ts';
import { type FileParts, scoreChunks, takeApart } from './score.ts';

export interface PickRequest {
  readonly question: string;
  /** How rare each concept of the question is. Null for a single file: then its own chunks decide. */
  readonly rarity: Rarity | null;
  readonly files: readonly PickedFile[];
  /** The most chunks that are shown of one file. */
  readonly ofFile: number;
}

export interface PickedFile {
  /** Relative to the workspace, with `/`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The choice among all chunks. Binary files have none. */
export function pickPassages({ question, rarity, files, ofFile }: PickRequest): PassageChoice {
  const matcher = new Matcher(conceptsOf(question));
  const chunks = files.flatMap((file) => {
    const parts = partsOf(file, matcher);
    if (parts === null) return [];
    return scoreChunks(parts, rarity ?? rarityWithin(parts, matcher), question);
  });
  return choosePassages(chunks, ofFile);
}

function partsOf(file: PickedFile, matcher: Matcher): FileParts | null {
  const lines = linesOf(file);
  return lines && takeApart({ name: file.name, lines }, matcher);
}

/** The lines of a text file as a chunk counts them; null for a binary file. */
export function linesOf({ bytes }: Pick<PickedFile, 'bytes'>): readonly string[] | null {
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return null;
  return lineTexts(decoded.text).slice(0, countLines(decoded.text));
}

function rarityWithin({ chunks }: FileParts, { concepts }: Matcher): Rarity {
  const bodies = chunks.map(({ body }) => body);
  return rarityOf(countDocuments(bodies, concepts.length), bodies.length);
}
