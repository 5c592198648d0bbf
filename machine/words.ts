/** The words of a text, in which a table of names takes few lines. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
