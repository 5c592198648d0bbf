/** The words of a text as the index has them: identifiers split, endings removed, words without meaning left out. */

import { INDEX_LIMITS } from './limits.ts';
import { CODEBASE_LIMITS } from './search/codebase/limits.ts';
import { isStopWord } from './search/codebase/question.ts';
import { identifiersOf, termsOf } from './search/codebase/terms.ts';

const known = new Map<string, string>();

/** The words with a space between them. */
export function indexWords(text: string): string {
  const words: string[] = [];
  for (const identifier of identifiersOf(text)) {
    const own = wordsOfOne(identifier);
    if (own !== '') words.push(own);
    if (words.length === INDEX_LIMITS.maxWords) break;
  }
  return words.join(' ');
}

/** Remembered, because code repeats its identifiers. */
function wordsOfOne(identifier: string): string {
  const before = known.get(identifier);
  if (before !== undefined) return before;
  const words = identifier.length > CODEBASE_LIMITS.maxIdentifierChars ? '' : split(identifier);
  if (known.size === INDEX_LIMITS.maxKnownWords) known.clear();
  known.set(identifier, words);
  return words;
}

function split(identifier: string): string {
  return termsOf(identifier)
    .filter((term) => term.length > 1 && !isStopWord(term) && !KEYWORDS.has(term))
    .join(' ');
}

/** Words of programming languages that every chunk has. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'const let var return import export function func fn def class public private static void null undefined true fals self els'.split(
    ' ',
  ),
);
