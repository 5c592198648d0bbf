/** Whether the characters of `part` stand in `text` in their order, from `start` on. Case counts. */
export function isSubsequence(part: string, text: string, start = 0): boolean {
  let at = start;
  for (const character of part) {
    const found = text.indexOf(character, at);
    if (found < 0) return false;
    at = found + character.length;
  }
  return true;
}
