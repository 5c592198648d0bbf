/** Normalises text for the search: case and the encoding of accents do not matter. Pure. */

/** The form of text that is stored and searched. SQLite's own lower() only knows ASCII. */
export function folded(text: string): string {
  // Upper case first, which makes ß and SS equal. NUL is replaced because SQLite's substr() treats it as the end.
  return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('\0', ' ');
}

/** The distinct words of a search, in the form of {@link folded}. */
export function wordsOf(search: string): string[] {
  return [...new Set(folded(search).split(/\s+/u))].filter((word) => word !== '');
}
