/** Reads ignore rules by gitignore(5), and rewrites rules of one folder for another. */

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

export interface IgnoreRule {
  /** `!` for a rule that re-includes files. */
  readonly sign: '' | '!';
  readonly segments: readonly string[];
  /** Whether the rule is about one path. Otherwise it is about a name at any depth. */
  readonly isAnchored: boolean;
  /** `/` for a rule about folders only. */
  readonly end: '' | '/';
}

/** By gitignore(5), as ripgrep reads it. Empty lines and comments are no rules. */
export function parseRules(text: string): IgnoreRule[] {
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
 * itself.
 */
function restsOf(segments: readonly string[], names: readonly string[]): (readonly string[])[] {
  const pattern = withoutDoubled(segments);
  const open = [...placesBehind(names, pattern.map(toStep))];
  return open.filter((start) => start < pattern.length).map((start) => pattern.slice(start));
}

/** The steps of a pattern for paths. */
export function stepsOf(segments: readonly string[]): readonly PatternStep[] {
  return withoutDoubled(segments).map(toStep);
}

/**
 * The places in a pattern that its steps can have reached behind these names. Follows all ways at once: with many `**`
 * there are more ways than there is time for.
 */
export function placesBehind(
  names: readonly string[],
  steps: readonly PatternStep[],
): ReadonlySet<number> {
  let open = new Set([0]);
  for (const name of names) {
    const next = new Set<number>();
    for (const at of open) {
      const isAnyDepth = steps[at] === ANY_DEPTH;
      if (isAnyDepth) next.add(at);
      const index = isAnyDepth ? at + 1 : at;
      const step = steps[index];
      if (typeof step === 'function' && step(name)) next.add(index + 1);
    }
    open = next;
  }
  return open;
}

type PatternStep = ((name: string) => boolean) | typeof ANY_DEPTH;
const ANY_DEPTH = Symbol('any depth');

function toStep(segment: string): PatternStep {
  return segment === '**' ? ANY_DEPTH : segmentMatcher(segment);
}

function withoutDoubled(segments: readonly string[]): readonly string[] {
  return segments.filter((one, at) => one !== '**' || segments[at - 1] !== '**');
}

/**
 * Whether a name matches one segment of a pattern. A match takes at most pattern × name steps, because both may be
 * hostile.
 */
export function segmentMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const tokens = tokensOf(pattern);
  const last = tokens.at(-1);
  const end = typeof last === 'string' ? last : '';
  return (name) => name.endsWith(end) && matchesTokens(tokens, [...name]);
}

/** One character that stands for itself, one of a kind, or any number of characters. */
type Token = string | ((char: string) => boolean) | typeof ANY;
const ANY = Symbol('any number of characters');

/** Of several stars only the last one met may have to take more: what the earlier ones took is enough for them. */
function matchesTokens(tokens: readonly Token[], chars: readonly string[]): boolean {
  let [token, char] = [0, 0];
  let star: { readonly token: number; char: number } | undefined;
  while (char < chars.length || token < tokens.length) {
    const wanted = tokens[token];
    const there = chars[char];
    if (wanted === ANY) {
      star = { token, char };
      token++;
    } else if (there !== undefined && wanted !== undefined && isOne(wanted, there)) {
      token++;
      char++;
    } else if (star !== undefined && star.char < chars.length) {
      star.char++;
      [token, char] = [star.token + 1, star.char];
    } else return false;
  }
  return true;
}

function isOne(wanted: Exclude<Token, typeof ANY>, char: string): boolean {
  return typeof wanted === 'string' ? wanted === char : wanted(char);
}

function tokensOf(pattern: string): Token[] {
  // Behind its last bracket a pattern has no sets. To look for the end of one at each `[` takes the square of its length.
  const end = endOfLastSet(pattern);
  const found = [
    ...pattern.slice(0, end).matchAll(TOKEN),
    ...pattern.slice(end).matchAll(TOKEN_BUT_SET),
  ];
  return found.map(({ 0: token, groups }): Token => {
    if (token === '*') return ANY;
    if (token === '?') return () => true;
    const set = groups?.['set'];
    if (set !== undefined) return isInSet(set);
    return literal(token);
  });
}

function endOfLastSet(pattern: string): number {
  let end = 0;
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === ']') end = at + 1;
  }
  return end;
}

const TOKEN = /\\.|\*|\?|\[(?<set>[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]|./gsu;
const TOKEN_BUT_SET = /\\.|\*|\?|./gsu;

function isInSet(set: string): (char: string) => boolean {
  const isNegated = /^[!^]/.test(set);
  const ranges = [...(isNegated ? set.slice(1) : set).matchAll(RANGE)].map(({ groups = {} }) => {
    const { kind, from, to } = groups;
    if (kind !== undefined) return (char: string) => KINDS[kind]?.test(char) ?? false;
    const first = literal(from ?? '');
    const last = to === undefined ? first : literal(to);
    return (char: string) => first <= char && char <= last;
  });
  return (char) => ranges.some((isIn) => isIn(char)) !== isNegated;
}

const RANGE = /\[:(?<kind>[a-z]+):\]|(?<from>\\.|.)(?:-(?<to>\\.|.))?/gsu;

function literal(text: string): string {
  return text.replace(/^\\(?=.)/su, '');
}

const KINDS: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-f]/i,
};
