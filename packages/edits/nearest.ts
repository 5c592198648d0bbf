/** Writes the hint for an edit that found no place: the closest real lines. The hint never decides where to edit. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { EDIT_LIMITS } from './limits.ts';
import { numberLine } from './line-numbers.ts';
import { INFORMATIVE_WEIGHT, lineTexts, weighLine } from './lines.ts';

/** The closest lines of the text with their numbers, or a sentence that says that no line comes close. */
export function describeNearest(text: string, search: string): string {
  const lines = lineTexts(text);
  const asked = lineTexts(search.replace(/\n$/, ''));
  const start = startByEqualLines(lines, asked) ?? startByWords(lines, asked);
  if (start === null) return 'Nothing in the file comes close to it: read the file again.';
  const count = Math.min(asked.length, EDIT_LIMITS.maxHintLines);
  const shown = lines
    .slice(start, start + count)
    .map((line, index) =>
      numberLine(start + index + 1, line.slice(0, EDIT_LIMITS.maxHintLineChars)),
    );
  return `The closest lines are:\n${shown.join('\n')}`;
}

/**
 * Each line of the search that is in the text votes for a start of the search. A line that repeats often votes little.
 */
function startByEqualLines(lines: readonly string[], asked: readonly string[]): number | null {
  const wanted = new Map<string, number[]>();
  asked.forEach((line, index) => {
    if (weighLine(line) === INFORMATIVE_WEIGHT) push(wanted, line.trim(), index);
  });
  const votes = new Map<number, number>();
  lines.forEach((line, at) => {
    for (const index of wanted.get(line.trim()) ?? []) {
      const start = Math.max(0, at - index);
      votes.set(start, (votes.get(start) ?? 0) + 1);
    }
  });
  return best(votes);
}

function push(map: Map<string, number[]>, key: string, value: number): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else if (values.length < MOST_VOTES) values.push(value);
}

/** Votes of one line of the text. */
const MOST_VOTES = 8;

/** The line that shares the most words with the search's first informative line, if it shares at least half. */
function startByWords(lines: readonly string[], asked: readonly string[]): number | null {
  const index = asked.findIndex((line) => weighLine(line) === INFORMATIVE_WEIGHT);
  const words = new Set(wordsOf(asked[index] ?? ''));
  if (words.size === 0) return null;
  const scores = new Map<number, number>();
  lines.forEach((line, at) => {
    const there = new Set(wordsOf(line));
    const shared = [...there].filter((word) => words.has(word)).length;
    const share = shared / Math.max(there.size, words.size);
    if (share >= HALF) scores.set(Math.max(0, at - index), share);
  });
  return best(scores);
}

const HALF = 0.5;

/** For a long line only the beginning is compared. */
function wordsOf(line: string): string[] {
  return line.slice(0, TOOL_LIMITS.maxLineChars).match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function best(scores: ReadonlyMap<number, number>): number | null {
  let winner: number | null = null;
  let highest = 0;
  for (const [start, score] of scores) {
    if (score > highest) [winner, highest] = [start, score];
  }
  return winner;
}
