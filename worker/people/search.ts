/** How a search compares: without regard to case, and to how an accent is written. Pure. */

/** Text as it is stored and looked for. SQLite's own lower() knows ASCII alone. */
export function folded(text: string): string {
  // Upper case first: it makes one of ß and SS. SQLite's substr() takes NUL for the end of a text.
  return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('\0', ' ');
}

/** The words of a search, each once, as {@link folded} gives them. */
export function wordsOf(search: string): string[] {
  return [...new Set(folded(search).split(/\s+/u))].filter((word) => word !== '');
}
