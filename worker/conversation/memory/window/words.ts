/** Cuts the user's own messages to what a digest can hold, and keeps the newest whole where possible. Pure. */

import { tagQuery } from '../../../../packages/prompt/index.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { cutMiddle, newestWithin } from './text.ts';

/** The first entry where older messages are left out. */
const OMITTED = '[older messages are left out to save room]';

/** Words, oldest first, within `room` UTF-16 units: the oldest long ones are cut, then left out, the newest last. */
export function boundWords(words: readonly string[], room: number): string[] {
  const { maxWordsBytes } = WINDOW_LIMITS;
  let maxChars = maxCharsOf(words, room);
  let bounded = boundBy(maxChars, words);
  while (bytesOf(bounded) > maxWordsBytes) {
    maxChars = Math.min(maxChars, maxWordsBytes) * 0.75;
    bounded = boundBy(maxChars, words);
  }
  return bounded;
}

/** The limit for all words. A newest message within its own share stays whole. */
function maxCharsOf(words: readonly string[], room: number): number {
  const maxNewest = room * WINDOW_LIMITS.newestWords;
  const newest = words.slice(-1);
  const isShort = (newest[0] ?? '').length <= maxNewest;
  const least = isShort ? weighWords([OMITTED, ...newest]) : maxNewest;
  return Math.max(room * WINDOW_LIMITS.words, least);
}

function boundBy(maxChars: number, words: readonly string[]): string[] {
  const mark = words.slice(0, words[0] === OMITTED ? 1 : 0);
  const older = words.slice(mark.length, -1);
  const newest = words.slice(mark.length).slice(-1);
  const excess = weighWords(words) - maxChars;
  const all = [...mark, ...shortenOldest(older, excess), ...newest];
  if (weighWords(all) <= maxChars) return all;
  const left = maxChars - weighWords([OMITTED, ...newest]);
  const kept = newestWithin(all.slice(mark.length, -1), left, TAG_CHARS);
  const first = kept.length < older.length ? [OMITTED] : mark;
  const last = Math.floor(maxChars - weighWords([...first, ...kept, '']));
  return [...first, ...kept, ...newest.map((word) => cutMiddle(word, last))];
}

/** Shortens the oldest words by `chars` UTF-16 units in all, as far as WINDOW_LIMITS.minWordChars allows. */
function shortenOldest(words: readonly string[], chars: number): string[] {
  let excess = chars;
  return words.map((word) => {
    const maxChars = Math.max(WINDOW_LIMITS.minWordChars, word.length - Math.max(0, excess));
    const cut = cutMiddle(word, maxChars);
    excess -= word.length - cut.length;
    return cut;
  });
}

function weighWords(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + tagQuery(word).length + 2, 0);
}

/** The tags around a word, and the line breaks between. */
const TAG_CHARS = tagQuery('').length + 2;

function bytesOf(words: readonly string[]): number {
  return new TextEncoder().encode(JSON.stringify(words)).byteLength;
}
