/** Picks the best passages of some files: all of it plain data, for it may be done in another thread. */
import { decode } from '../../edits/encoding.ts';
import { countLines, lineTexts } from '../../edits/lines.ts';
import { Matcher } from './matcher.ts';
import { type Choice, choosePassages } from './passages.ts';
import { conceptsOf } from './question.ts';
import { countDocuments, type Rarity, rarityOf } from './rank.ts';
import { type FileParts, scoreChunks, takeApart } from './score.ts';

export interface PickRequest {
  readonly question: string;
  /** How rare each concept of the question is; null for a file alone, where that is a matter of its own chunks. */
  readonly rarity: Rarity | null;
  readonly files: readonly FoundFile[];
  /** Chunks shown of one file at most. */
  readonly ofFile: number;
}

export interface FoundFile {
  /** Relative to the workspace, with `/`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The choice among all chunks; files that are no text have none. */
export function pickPassages({ question, rarity, files, ofFile }: PickRequest): Choice {
  const matcher = new Matcher(conceptsOf(question));
  const chunks = files.flatMap((file) => {
    const parts = partsOf(file, matcher);
    if (parts === null) return [];
    return scoreChunks(parts, rarity ?? rarityWithin(parts, matcher), question);
  });
  return choosePassages(chunks, ofFile);
}

function partsOf({ name, bytes }: FoundFile, matcher: Matcher): FileParts | null {
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return null;
  const lines = lineTexts(decoded.text).slice(0, countLines(decoded.text));
  return takeApart({ name, lines }, matcher);
}

function rarityWithin({ chunks }: FileParts, { concepts }: Matcher): Rarity {
  const bodies = chunks.map(({ body }) => body);
  return rarityOf(countDocuments(bodies, concepts.length), bodies.length);
}
