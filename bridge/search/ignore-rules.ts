/**
 * Rewrites ignore rules of one folder for another: ripgrep gets all rules in one file, relative to the searched folder.
 */

/**
 * Rewrites rules of the folder `below`, which is relative to the searched folder, with `/`; empty for the latter
 * itself.
 */
export function rulesFromBelow(text: string, below: string): string[] {
  if (below === '') return linesOf(text);
  const prefix = `/${escapeGlob(below)}/`;
  return parseRules(text).map(({ sign, segments, isAnchored, end }) => {
    const anywhere = isAnchored ? '' : '**/';
    return `${sign}${prefix}${anywhere}${segments.join('/')}${end}`;
  });
}

/** Rewrites rules of a folder above the searched one. `names` lead from that folder to the searched one. */
export function rulesFromAbove(text: string, names: readonly string[]): string[] {
  return parseRules(text).flatMap(({ sign, segments, isAnchored, end }) => {
    if (!isAnchored) return [`${sign}${segments.join('/')}${end}`];
    return restsOf(segments, names).map((rest) => `${sign}/${rest.join('/')}${end}`);
  });
}

interface Rule {
  /** `!` for a rule that re-includes files. */
  readonly sign: '' | '!';
  readonly segments: readonly string[];
  /** Whether the rule is about one path. Otherwise it is about a name at any depth. */
  readonly isAnchored: boolean;
  /** `/` for a rule about folders only. */
  readonly end: '' | '/';
}

/** By gitignore(5), as ripgrep reads it. Empty lines and comments are no rules. */
function parseRules(text: string): Rule[] {
  return linesOf(text).flatMap((line) => {
    const trimmed = /\\\s+$/.test(line) ? line : line.trimEnd();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const sign = trimmed.startsWith('!') ? '!' : '';
    const body = trimmed.slice(sign.length);
    const end = body.endsWith('/') ? '/' : '';
    const pattern = body.slice(body.startsWith('/') ? 1 : 0, body.length - end.length);
    if (pattern === '') return [];
    const isAnchored = body.startsWith('/') || pattern.includes('/');
    return [{ sign, segments: pattern.split('/'), isAnchored, end }];
  });
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/\r$/, ''));
}

function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, '\\$&');
}

/**
 * The rests of a pattern for paths below the named folders. None where the pattern is about one of these folders
 * itself. Follows all ways through the pattern at once: with many `**` there are more ways than a search has time for.
 */
function restsOf(segments: readonly string[], names: readonly string[]): (readonly string[])[] {
  const pattern = segments.filter((one, index) => one !== '**' || segments[index - 1] !== '**');
  let open: ReadonlySet<number> = new Set([0]);
  for (const name of names) {
    const next = new Set<number>();
    for (const start of open) {
      const isAnyDepth = pattern[start] === '**';
      if (isAnyDepth) next.add(start);
      const index = isAnyDepth ? start + 1 : start;
      const segment = pattern[index];
      if (segment !== undefined && matchesSegment(segment, name)) next.add(index + 1);
    }
    open = next;
  }
  return [...open].filter((start) => start < pattern.length).map((start) => pattern.slice(start));
}

/** One character, or any number of characters. */
type Token = '*' | ((char: string) => boolean);

/** Whether a name matches one segment of a pattern. Takes at most pattern × name steps, because both may be hostile. */
function matchesSegment(pattern: string, name: string): boolean {
  let open = new Set([0]);
  const tokens = tokensOf(pattern);
  const close = (states: Set<number>) => {
    for (const state of states) if (tokens[state] === '*') states.add(state + 1);
    return states;
  };
  close(open);
  for (const char of name) {
    const next = new Set<number>();
    for (const state of open) {
      const token = tokens[state];
      if (token === '*') next.add(state);
      else if (token?.(char)) next.add(state + 1);
    }
    open = close(next);
  }
  return open.has(tokens.length);
}

function tokensOf(pattern: string): Token[] {
  // Behind its last bracket a pattern has no sets. To look for the end of one at each `[` takes the square of its length.
  const end = pattern.lastIndexOf(']') + 1;
  const found = [
    ...pattern.slice(0, end).matchAll(TOKEN),
    ...pattern.slice(end).matchAll(TOKEN_BUT_SET),
  ];
  return found.map(({ 0: token, groups }): Token => {
    if (token === '*') return '*';
    if (token === '?') return () => true;
    const set = groups?.['set'];
    if (set !== undefined) return isInSet(set);
    return (char) => char === token.replace(/^\\(?=.)/su, '');
  });
}

const TOKEN = /\\.|\*|\?|\[(?<set>[!^]?\]?[^\]]*)\]|./gsu;
const TOKEN_BUT_SET = /\\.|\*|\?|./gsu;

function isInSet(set: string): (char: string) => boolean {
  const isNegated = /^[!^]/.test(set);
  const ranges = [...(isNegated ? set.slice(1) : set).matchAll(/(.)-(.)|(.)/gsu)];
  return (char) => {
    const isIn = ranges.some(([, from, to, one]) =>
      one === undefined ? (from ?? '') <= char && char <= (to ?? '') : one === char,
    );
    return isIn !== isNegated;
  };
}
