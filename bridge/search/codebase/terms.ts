/** Words as a search compares them: identifiers taken apart, endings taken off. */

/** The maximal runs of letters, digits and underscores of a text, as they stand in it. */
export function identifiersOf(text: string): string[] {
  return text.match(IDENTIFIER) ?? [];
}

const IDENTIFIER = /[\p{L}\p{N}_]+/gu;

/**
 * The words of an identifier in lower case: `parseHTTPHeader_v2` is parse, http, header, v, 2. None for one that is
 * only underscores.
 */
export function wordsOf(identifier: string): string[] {
  return (identifier.match(HUMP) ?? []).map((word) => word.toLowerCase());
}

/** Capitals up to the one that begins a word; a word with or without its capital; digits; letters without case. */
const HUMP = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lo}\p{Lm}\p{Lt}]+/gu;

/**
 * What an identifier is found by: the stem of each of its words, and where there are several that of all joined, so
 * that `backOff`, `back_off` and `backoff` meet.
 */
export function termsOf(identifier: string): string[] {
  const words = wordsOf(identifier);
  const stems = words.map(stem);
  return words.length > 1 ? [...stems, stem(words.join(''))] : stems;
}

/**
 * A word in lower case without its ending, alike for `retry`, `retries`, `retried` and `retrying`. It is a beginning of
 * the word, except that a final `is` becomes `iz`, so that initialise meets initialize. Not always a word.
 */
export function stem(word: string): string {
  if (word.length <= FEWEST_LETTERS) return word;
  const bare = withoutFinalVowel(withoutVerbEnding(withoutPlural(word)));
  return bare.length > SHORTEST_ISE && bare.endsWith('is') ? `${bare.slice(0, -2)}iz` : bare;
}

/** Shorter words have no ending to lose; nothing is taken off that would leave less. */
const FEWEST_LETTERS = 3;

/** `basis`, `axis` and `this` have no other spelling. */
const SHORTEST_ISE = 5;

function withoutPlural(word: string): string {
  if (word.endsWith('ies')) return take(word, 2);
  return /[^sui]s$/.test(word) ? take(word, 1) : word;
}

/** Of a verb's form, or of the noun that is made of it: `initialization`, `connection`, `running`, `signed`. */
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
