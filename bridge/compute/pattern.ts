/** Compares texts with a regular expression that people wrote for another program. */

export interface Matching {
  readonly pattern: string;
  readonly texts: readonly string[];
}

/** Throws a SyntaxError for a pattern that is none. */
export function matchesAny({ pattern, texts }: Matching): boolean {
  const expression = new RegExp(pattern);
  return texts.some((text) => expression.test(text));
}

/** Without a repeated group, the time for a short text is short. */
export function isLightMatching({ pattern, texts }: Matching): boolean {
  const isSimple = !/\)[*+{?]/.test(pattern) && pattern.length <= LIGHT_CHARS;
  return isSimple && texts.every(({ length }) => length <= LIGHT_CHARS);
}

const LIGHT_CHARS = 100;
