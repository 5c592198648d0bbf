/**
 * Replaces a piece of a text. A ladder of equalities finds it: never by likeness, and never at one of several places.
 */

import { TOOL_LIMITS } from '../../shared/limits.ts';
import { EDIT_LIMITS } from './limits.ts';
import { hasLineNumbers } from './line-numbers.ts';
import { LINE_RUNGS } from './line-rungs.ts';
import {
  eolOfLine,
  INFORMATIVE_WEIGHT,
  lineIndexAt,
  lineTexts,
  splitLines,
  weighLine,
  withEol,
} from './lines.ts';
import type { FindMatches, Haystack, Match, Rung } from './match.ts';
import { describeNearest } from './nearest.ts';
import { offsetsOf } from './occurrences.ts';
import { type EditRefusal, formatLineList, refuse } from './refusal.ts';
import { applySplices, type Splice } from './splice.ts';

export type Replaced =
  | {
      readonly ok: true;
      readonly text: string;
      readonly rung: Rung;
      readonly lines: readonly number[];
    }
  | EditRefusal;

/**
 * Replaces `search` by `replacement` once; with `all`, at every place of the first rung with a match. `text` has no
 * BOM. The replacement is literal and takes the line ends of its place. `lines` are the numbers, in the old text, of
 * the lines where the places begin.
 */
export function replaceText(
  text: string,
  search: string,
  replacement: string,
  { all = false }: { all?: boolean } = {},
): Replaced {
  const asked = withEol(search, '\n');
  const given = withEol(replacement, '\n');
  if (asked === given) {
    return refuse(
      'NO_CHANGE',
      'old_string and new_string are the same: give the text as it is to become.',
    );
  }
  const there = { text, lines: splitLines(text) };
  for (const { rung, find } of RUNGS) {
    const matches = find(there, asked, given);
    if (matches.length > EDIT_LIMITS.maxPlaces) return everywhere();
    if (matches.length > 1 && !all) return ambiguous(there, rung, matches);
    if (matches.length > 0) return apply(there, rung, withoutOverlaps(matches));
  }
  return explainMissing(there, asked, given);
}

const RUNGS: readonly { readonly rung: Rung; readonly find: FindMatches }[] = [
  { rung: 'exact', find: findExact },
  { rung: 'line_ends', find: findAcrossLineEnds },
  ...LINE_RUNGS,
];

function everywhere(): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `old_string stands in the file more than ${EDIT_LIMITS.maxPlaces} times: give a longer piece of it.`,
  );
}

/** One more than the most that are replaced: enough to know that there are too many. */
const MOST_FOUND = EDIT_LIMITS.maxPlaces + 1;

/** Overlapping places count: `aaa` contains `aa` twice. */
function findExact(there: Haystack, search: string, replacement: string): Match[] {
  const matchAt = matcherFor(there, replacement);
  return offsetsOf(there.text, search, MOST_FOUND).map((start) =>
    matchAt(start, start + search.length),
  );
}

/** Searches the text with plain line ends, and maps each match back to the real text. */
function findAcrossLineEnds(there: Haystack, search: string, replacement: string): Match[] {
  if (!search.includes('\n') || !there.text.includes('\r\n')) return [];
  const { plain, toOffset } = withPlainLineEnds(there);
  const matchAt = matcherFor(there, replacement);
  return offsetsOf(plain, search, MOST_FOUND).map((start) =>
    matchAt(toOffset(start), toOffset(start + search.length)),
  );
}

function withPlainLineEnds({ lines }: Haystack): {
  plain: string;
  toOffset: (inPlain: number) => number;
} {
  let length = 0;
  const starts = lines.map(({ text }) => {
    const start = length;
    length += text.length + 1;
    return { start };
  });
  return {
    plain: lines.map(({ text }) => text).join('\n'),
    toOffset: (inPlain) => {
      const index = lineIndexAt(starts, inPlain);
      return (lines[index]?.start ?? 0) + inPlain - (starts[index]?.start ?? 0);
    },
  };
}

function matcherFor({ text, lines }: Haystack, replacement: string) {
  const inserts = { '\n': replacement, '\r\n': withEol(replacement, '\r\n') };
  return (start: number, end: number): Match => ({
    start,
    end,
    splice: () => {
      const insert = inserts[eolOfLine(text, lines, lineIndexAt(lines, start))];
      return { start, end, insert };
    },
  });
}

function withoutOverlaps(matches: readonly Match[]): Match[] {
  const kept: Match[] = [];
  for (const match of matches) {
    if (match.start >= (kept.at(-1)?.end ?? 0)) kept.push(match);
  }
  return kept;
}

function apply(there: Haystack, rung: Rung, matches: readonly Match[]): Replaced {
  const splices: Splice[] = [];
  let length = there.text.length;
  for (const match of matches) {
    const splice = match.splice();
    if (splice === null) return cannotFollow(there, match);
    length += splice.insert.length - (splice.end - splice.start);
    if (length > TOOL_LIMITS.maxFileBytes) return tooLong();
    splices.push(splice);
  }
  const replaced = applySplices(there.text, splices);
  if (replaced === there.text) {
    return refuse(
      'NO_CHANGE',
      'The file already reads as it would after this edit: nothing is left to change.',
    );
  }
  return { ok: true, text: replaced, rung, lines: numbersOf(there, matches) };
}

function cannotFollow(there: Haystack, match: Match): EditRefusal {
  return refuse(
    'NOT_FOUND_IN_FILE',
    `old_string stands at line ${numbersOf(there, [match])[0]} with another indentation, and new_string uses ` +
      'indentations that do not follow from it: repeat both with the indentation of the file.',
  );
}

function tooLong(): EditRefusal {
  return refuse(
    'FILE_TOO_LARGE',
    `The file would become longer than ${TOOL_LIMITS.maxFileBytes} characters, more than can be edited: replace fewer ` +
      'places, or change it with a command.',
  );
}

function numbersOf({ lines }: Haystack, matches: readonly Match[]): number[] {
  return matches.map((match) => lineIndexAt(lines, match.start) + 1);
}

function ambiguous(there: Haystack, rung: Rung, matches: readonly Match[]): EditRefusal {
  const near =
    rung === 'exact' || rung === 'line_ends' ? '' : ' (apart from white space or punctuation)';
  return refuse(
    'AMBIGUOUS',
    `old_string must stand in the file once, but it stands there ${matches.length} times${near}, at lines ` +
      `${formatLineList(numbersOf(there, matches))}: add lines around the place you mean, or set replace_all.`,
  );
}

function explainMissing(there: Haystack, search: string, replacement: string): EditRefusal {
  if (hasLineNumbers(search)) {
    return refuse(
      'LINE_NUMBERS_IN_TEXT',
      'old_string carries the line numbers that read_file shows (`12|`), which are not part of the file: repeat it without them.',
    );
  }
  const applied = placeOfReplacement(there, replacement);
  if (applied !== null) {
    return refuse(
      'ALREADY_APPLIED',
      `old_string is not in the file, but new_string stands there already, at line ${applied}: the edit seems to be done.`,
    );
  }
  return refuse(
    'NOT_FOUND_IN_FILE',
    `old_string is not in the file: repeat the text exactly as it stands there. ${describeNearest(there.text, search)}`,
  );
}

/** The one line where the new text already stands. Null when the new text has no informative line. */
function placeOfReplacement(there: Haystack, replacement: string): number | null {
  const isTelling = lineTexts(replacement).some((line) => weighLine(line) === INFORMATIVE_WEIGHT);
  if (!isTelling) return null;
  const exact = findExact(there, replacement, '');
  const [place, other] = exact.length > 0 ? exact : findAcrossLineEnds(there, replacement, '');
  if (place === undefined || other !== undefined) return null;
  return lineIndexAt(there.lines, place.start) + 1;
}
