/** Makes an entry of the index of a file's bytes. */
import { sha256 } from '../../machine/hash.ts';
import { chunksOf } from './chunks.ts';
import { linesOf } from './search/codebase/pick.ts';
import type { IndexedFile } from './store.ts';
import { indexWords } from './words.ts';

/** A binary file has no chunks: the index knows that it need not be read again. */
export async function entryOf(
  path: string,
  bytes: Uint8Array,
  parses: boolean,
): Promise<Pick<IndexedFile, 'path' | 'words' | 'chunks'>> {
  const words = indexWords(path);
  const lines = linesOf({ bytes });
  if (lines === null) return { path, words, chunks: [] };
  const chunks = await chunksOf(path, lines, parses);
  return {
    path,
    words,
    chunks: chunks.map(({ start, end, names }) => ({
      start,
      end,
      names: indexWords(names),
      ...bodyOf(lines.slice(start, end).join('\n')),
    })),
  };
}

function bodyOf(text: string) {
  return { body: indexWords(text), hash: sha256(text) };
}
