/** Decides by the rules of one ignore file. */
import { IGNORED_LIMITS } from './limits.ts';
import { type IgnoreRule, parseRules, placesBehind, segmentMatcher, stepsOf } from './rules.ts';

/** The rules of one file, the strongest first. */
export type Patterns = readonly Pattern[];

interface Pattern {
  readonly isNegated: boolean;
  readonly isOfFolders: boolean;
  readonly matches: (path: Spelt) => boolean;
}

/** The names that lead to a path, also as they compare. */
interface Spelt {
  readonly names: readonly string[];
  readonly folded: readonly string[];
}

/** Undefined for more rules than can be compared with every name. */
export function toPatterns(text: string): Patterns | undefined {
  const rules = parseRules(text);
  const stars = rules
    .flatMap(({ segments }) => segments)
    .join('/')
    .split('*').length;
  const { maxRules, maxStars } = IGNORED_LIMITS;
  if (rules.length > maxRules || stars > maxStars) return undefined;
  return rules.map(toPattern).reverse();
}

/**
 * Whether the rules ignore a path. `names` lead to it from the file's folder. Says nothing of the folders on the way:
 * the caller asks for each of them first, because what lies in an ignored folder is ignored.
 */
export function isIgnored(
  patterns: Patterns,
  names: readonly string[],
  isFolder: boolean,
): boolean {
  const path = { names, folded: names.map(fold) };
  const decisive = patterns.find(
    ({ isOfFolders, matches }) => (isFolder || !isOfFolders) && matches(path),
  );
  return decisive !== undefined && !decisive.isNegated;
}

function toPattern({ sign, segments, isAnchored, end }: IgnoreRule): Pattern {
  const isNegated = sign === '!';
  const asWritten = matcherOf(segments, isAnchored);
  // `app/[slug]/key` also closes the file of that very path. A rule that opens a path opens no other one.
  const literal = isNegated ? segments : segments.map(literalSegment);
  const isPlain = literal.every((segment, at) => segment === segments[at]);
  const asNamed = isPlain ? asWritten : matcherOf(literal, isAnchored);
  const matches = (names: readonly string[]) => asWritten(names) || asNamed(names);
  const lowered = segments.map(fold);
  const isLow = lowered.every((segment, at) => segment === segments[at]);
  const matchesFolded = isLow ? matches : matcherOf(lowered, isAnchored);
  return {
    isNegated,
    isOfFolders: end === '/',
    // A file system may take another spelling for the same file. A rule that opens a path opens no other spelling.
    matches: ({ names, folded }) => {
      if (matches(names)) return true;
      const isSame = isLow && folded.every((name, at) => name === names[at]);
      return !isNegated && !isSame && matchesFolded(folded);
    },
  };
}

/** The segment, in which a bracket stands for itself. */
function literalSegment(segment: string): string {
  return segment.includes('\\') ? segment : segment.replace(/\[/g, '\\[');
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

function matcherOf(
  segments: readonly string[],
  isAnchored: boolean,
): (names: readonly string[]) => boolean {
  if (!isAnchored) {
    const matchesName = segmentMatcher(segments[0] ?? '');
    return (names) => matchesName(names.at(-1) ?? '');
  }
  // `a/**` is about everything below `a`, and not about `a`.
  const parts = segments.at(-1) === '**' ? [...segments, '*'] : segments;
  const steps = stepsOf(parts);
  return (names) => placesBehind(names, steps).has(steps.length);
}
