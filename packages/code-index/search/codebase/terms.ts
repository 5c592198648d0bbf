/** Words as a search compares them: identifiers are split, endings are removed. */

/** The longest runs of letters, digits and underscores of a text, as written. */
export function identifiersOf(text: string): string[] {
  return text.match(IDENTIFIER) ?? [];
}

const IDENTIFIER = /[\p{L}\p{N}_]+/gu;

/**
 * The words of an identifier in lower case: `parseHTTPHeader_v2` gives parse, http, header, v, 2. An identifier of only
 * underscores gives none.
 */
export function wordsOf(identifier: string): string[] {
  return (identifier.match(HUMP) ?? []).map((word) => word.toLowerCase());
}

/** Capitals up to the one that begins a word; a word with or without its capital; digits; letters without case. */
const HUMP = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lo}\p{Lm}\p{Lt}]+/gu;

/**
 * The stems that find an identifier: one for each of its words, and for several words also one for all joined, so that
 * `backOff`, `back_off` and `backoff` match each other.
 */
export function termsOf(identifier: string): string[] {
  const words = wordsOf(identifier);
  const stems = words.map(stem);
  return words.length > 1 ? [...stems, stem(words.join(''))] : stems;
}

/**
 * A lower-case word without its ending: the same for `retry`, `retries`, `retried` and `retrying`. It is a beginning of
 * the word, except that a final `is` becomes `iz`, so that initialise matches initialize. It may not be a real word.
 */
export function stem(word: string): string {
  if (word.length <= FEWEST_LETTERS) return word;
  const bare = withoutFinalVowel(withoutVerbEnding(withoutPlural(word)));
  return bare.length > SHORTEST_ISE && bare.endsWith('is') ? `${bare.slice(0, -2)}iz` : bare;
}

/** Words this short keep their endings, and no ending is removed that would leave fewer letters. */
const FEWEST_LETTERS = 3;

/** Words this short keep `is`: `basis`, `axis` and `this` have no other spelling. */
const SHORTEST_ISE = 5;

function withoutPlural(word: string): string {
  if (word.endsWith('ies')) return take(word, 2);
  return /[^sui]s$/.test(word) ? take(word, 1) : word;
}

/** Removes the ending of a verb form or of its noun: `initialization`, `connection`, `running`, `signed`. */
function withoutVerbEnding(word: string): string {
  if (/i[sz]ation$/.test(word)) return take(word, 'ation'.length);
  if (/.{5}[st]ion$|.{4}tion$/.test(word)) return take(word, 'ion'.length);
  const rest = take(word, /(?<!e)ed$|ing$/.exec(word)?.[0].length ?? 0);
  if (rest === word || !/[aeiouyäöü]/.test(rest)) return word;
  return rest.replace(/([bdfgkmnprtv])\1$/, '$1');
}

function withoutFinalVowel(word: string): string {
  return /(?:e|[^aeiou][yi])$/.test(word) ? take(word, 1) : word;
}

function take(word: string, length: number): string {
  return word.length - length < FEWEST_LETTERS ? word : word.slice(0, -length);
}
