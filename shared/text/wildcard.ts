/**
 * Patterns of rules: `*` stands for any text, `?` for any one character, all other characters for themselves. `[*]` and
 * `[?]` stand for a star and a question mark.
 */

/**
 * Whether the whole text matches. Takes the first match of each piece between two stars, and never goes back. A regular
 * expression would not be safe: patterns come from repositories too, and one could be slow on purpose.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [head = '', ...pieces] = piecesOf(pattern);
  const tail = pieces.pop();
  if (tail === undefined) return head.length === text.length && standsAt(head, text, 0);
  const lastStart = text.length - tail.length;
  if (lastStart < head.length || !standsAt(head, text, 0)) return false;
  if (!standsAt(tail, text, lastStart)) return false;
  let from = head.length;
  for (const piece of pieces) {
    const at = placeOf(piece, text, from);
    if (at === null) return false;
    from = at + piece.length;
  }
  return from <= lastStart;
}

/** The pattern that only this text matches. */
export function literalPattern(text: string): string {
  return text.replace(/[*?]/g, '[$&]');
}

/** The text before the first wildcard: everything that matches begins with it. */
export function literalStart(pattern: string): string {
  const [start = ''] = (piecesOf(pattern)[0] ?? '').split(ANY);
  return start;
}

/** Whether only one text matches. */
export function isLiteral(pattern: string): boolean {
  return literalPattern(literalStart(pattern)) === pattern;
}

/** What stands between the stars, with a mark for each question mark. */
function piecesOf(pattern: string): string[] {
  if (!/\[[*?]\]/.test(pattern)) return pattern.replaceAll('?', ANY).split('*');
  const pieces = [''];
  for (const [token] of pattern.matchAll(/\[[*?]\]|[\s\S]/g)) {
    if (token === '*') pieces.push('');
    else
      pieces.push(`${pieces.pop()}${token === '?' ? ANY : token.length === 3 ? token[1] : token}`);
  }
  return pieces;
}

/** No path and no command line contains it. */
const ANY = '\0';

function standsAt(piece: string, text: string, start: number): boolean {
  if (!piece.includes(ANY)) return text.startsWith(piece, start);
  for (let at = 0; at < piece.length; at++) {
    if (piece[at] !== ANY && piece[at] !== text[start + at]) return false;
  }
  return start + piece.length <= text.length;
}

/**
 * The first match at or after `from`. Searches for the longest run of plain characters first, because `indexOf` is
 * fast.
 */
function placeOf(piece: string, text: string, from: number): number | null {
  const runs = piece.split(ANY);
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  const offset = piece.indexOf(longest);
  let at = text.indexOf(longest, from + offset);
  while (at !== -1 && at + piece.length - offset <= text.length) {
    if (standsAt(piece, text, at - offset)) return at - offset;
    at = text.indexOf(longest, at + 1);
  }
  return null;
}

/** Splits a pattern of hosts into the part for the name and the port, if it has one (`*` for any). */
export function splitPattern(pattern: string): {
  readonly name: string;
  readonly port: string | undefined;
} {
  const [, name = pattern, port] = /^(.*?):(\d{1,5}|\*)$/.exec(pattern) ?? [];
  const isBare = pattern.startsWith('[') || !name.includes(':');
  const whole = isBare ? name : pattern;
  const shown = /^\[([0-9a-f:.]+)\]$/i.exec(whole)?.[1] ?? whole;
  return { name: shown.toLowerCase(), port: isBare ? port : undefined };
}
