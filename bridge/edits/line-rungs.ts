/** The rungs that compare whole lines: trailing space, typographic punctuation, and one shift of the indentation. */
import { shiftIndentation } from './indentation.ts';
import { lineTexts } from './lines.ts';
import type { AdaptLines, FindMatches, Haystack, Match, Rung } from './match.ts';
import { spliceLines } from './splice.ts';

/** From the strictest on. A search without any word finds nothing on them. */
export const LINE_RUNGS: readonly { readonly rung: Rung; readonly find: FindMatches }[] = [
  { rung: 'trailing_space', find: byLines((line) => line.trimEnd(), asGiven) },
  { rung: 'punctuation', find: byLines((line) => foldPunctuation(line).trimEnd(), asGiven) },
  { rung: 'indentation', find: byLines((line) => line.trim(), shiftIndentation) },
];

/** Lines are equal when their keys are; `adapt` then makes the new lines fit the place, or says why they cannot. */
function byLines(keyOf: (line: string) => string, adapt: AdaptLines): FindMatches {
  return (there, search, replacement) => {
    const needle = parseNeedle(search);
    if (needle.whole.every((line) => line.trim() === '')) return [];
    const keys = there.lines.map((line) => keyOf(line.text));
    return findWindows(keys, needle.whole.map(keyOf)).flatMap(
      (from) => matchAt(there, from, needle, lineTexts(replacement), adapt) ?? [],
    );
  };
}

/** A search as lines. With `openEnd` it ends in a line end, so that the last of `asked` is no line of its own. */
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

/** The index of every line from which on the keys are those asked for. */
function findWindows(keys: readonly string[], asked: readonly string[]): number[] {
  const found: number[] = [];
  for (let from = 0; from + asked.length <= keys.length; from++) {
    if (asked.every((key, index) => keys[from + index] === key)) found.push(from);
  }
  return found;
}

function matchAt(
  { text, lines }: Haystack,
  from: number,
  { asked, whole, openEnd }: Needle,
  replacement: readonly string[],
  adapt: AdaptLines,
): Match | null {
  const window = lines.slice(from, from + whole.length);
  const there = window.map((line) => line.text);
  const context = adapt(there, whole, asked);
  const fresh = adapt(there, whole, replacement);
  if (context === 'other' || context === 'unfit' || fresh === 'other') return null;
  const [start, end] = [window[0]?.start ?? 0, window.at(-1)?.end ?? 0];
  if (fresh === 'unfit') return { start, end, splice: null };
  return { start, end, splice: spliceLines(text, lines, { from, asked: context, openEnd }, fresh) };
}

function asGiven(
  _there: readonly string[],
  _asked: readonly string[],
  replacement: readonly string[],
): readonly string[] {
  return replacement;
}

/** Quotes, dashes, spaces and the ellipsis as typed on a keyboard: what models and word processors exchange. */
function foldPunctuation(line: string): string {
  return line
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201B]/g, "'")
    .replace(/[\u201C-\u201F]/g, '"')
    .replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ')
    .replaceAll('\u2026', '...');
}
