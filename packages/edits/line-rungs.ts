/** The rungs that compare whole lines: by trailing space, typographic punctuation, and one shift of the indentation. */
import { shiftIndentation } from './indentation.ts';
import { EDIT_LIMITS } from './limits.ts';
import { lineTexts, type TextLine } from './lines.ts';
import type { AdaptLines, FindMatches, Haystack, Match, Rung } from './match.ts';
import { windowsOf } from './occurrences.ts';
import { spliceLines } from './splice.ts';

/** From the strictest on. They find nothing for a search that is only white space. */
export const LINE_RUNGS: readonly { readonly rung: Rung; readonly find: FindMatches }[] = [
  { rung: 'trailing_space', find: byLines((line) => line.trimEnd(), asGiven) },
  { rung: 'punctuation', find: byLines((line) => foldPunctuation(line).trimEnd(), asGiven) },
  { rung: 'indentation', find: byLines((line) => line.trim(), shiftIndentation) },
];

/**
 * Lines are equal when their keys are equal. `adapt` then fits the new lines to the place, or says why they do not fit.
 */
function byLines(keyOf: (line: string) => string, adapt: AdaptLines): FindMatches {
  return (there, search, replacement) => {
    const needle = parseNeedle(search);
    if (needle.whole.every((line) => line.trim() === '')) return [];
    const keys = there.lines.map((line) => keyOf(line.text));
    const windows = windowsOf(keys, needle.whole.map(keyOf), EDIT_LIMITS.maxPlaces + 1);
    const fresh = lineTexts(replacement);
    return meantOf(there, windows, needle, adapt).map((from) =>
      matchAt(there, from, needle, fresh, adapt),
    );
  };
}

/**
 * Leaves out windows that are not meant. Where there are too many to check each, the unchecked ones count as meant:
 * they are then refused for their number, or one by one.
 */
function meantOf(
  { lines }: Haystack,
  windows: readonly number[],
  { whole }: Needle,
  adapt: AdaptLines,
): readonly number[] {
  const looked = Math.ceil(EDIT_LIMITS.maxEqualLines / whole.length);
  return windows.filter(
    (from, index) => index >= looked || adapt(textsAt(lines, from, whole), whole, []) !== 'other',
  );
}

/** A search as lines. With `openEnd` it ends in a line end, and the last of `asked` is no line of its own. */
interface Needle {
  readonly asked: readonly string[];
  readonly whole: readonly string[];
  readonly openEnd: boolean;
}

function parseNeedle(search: string): Needle {
  const asked = lineTexts(search);
  const openEnd = asked.length > 1 && asked.at(-1) === '';
  return { asked, whole: openEnd ? asked.slice(0, -1) : asked, openEnd };
}

function matchAt(
  { text, lines }: Haystack,
  from: number,
  { asked, whole, openEnd }: Needle,
  replacement: readonly string[],
  adapt: AdaptLines,
): Match {
  const start = lines[from]?.start ?? 0;
  const end = lines[from + whole.length - 1]?.end ?? start;
  const splice = () => {
    const there = textsAt(lines, from, whole);
    const context = adapt(there, whole, asked);
    const fresh = adapt(there, whole, replacement);
    if (typeof context === 'string' || typeof fresh === 'string') return null;
    return spliceLines(text, lines, { from, asked: context, openEnd }, fresh);
  };
  return { start, end, splice };
}

function textsAt(lines: readonly TextLine[], from: number, whole: readonly string[]): string[] {
  return lines.slice(from, from + whole.length).map((line) => line.text);
}

function asGiven(
  _there: readonly string[],
  _asked: readonly string[],
  replacement: readonly string[],
): readonly string[] {
  return replacement;
}

/**
 * Replaces typographic quotes, dashes, spaces and ellipses by their keyboard forms. Models and word processors mix
 * them.
 */
function foldPunctuation(line: string): string {
  return line
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201B]/g, "'")
    .replace(/[\u201C-\u201F]/g, '"')
    .replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ')
    .replaceAll('\u2026', '...');
}
