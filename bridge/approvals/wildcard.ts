/** Patterns of rules: `*` stands for any text, `?` for any one character, everything else for itself. */

/**
 * Whether the whole text matches. Takes at most pattern times text steps: patterns come from repositories too, and a
 * regular expression made of one could be slow on purpose.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  let lastStar = -1;
  let afterStar = 0;
  while (at < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      lastStar = inPattern++;
      afterStar = at;
    } else if (wanted === '?' || wanted === text[at]) {
      inPattern++;
      at++;
    } else if (lastStar !== -1) {
      // The last star takes one character more; stars before it need not be tried again.
      inPattern = lastStar + 1;
      at = ++afterStar;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}
