/** A change as lines of the screen: with the numbers of both sides, and some unchanged lines around it. */
import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import { type DiffRow, rowsWithGaps } from '../../../shared/shown/diff-rows.ts';
import { shorten } from '../../../shared/text/plain-sight.ts';
import type { Diff } from '../../../shared/wire/documents.ts';
import { SCREEN_LIMITS } from '../../limits.ts';
import type { Paint } from '../../terminal/paint.ts';
import { hiddenLine, plain } from './lines.ts';
import type { Look } from './look.ts';

/** No lines without hunks. */
export function diffLines(hunks: readonly Diff[], width: number, look: Look): string[] {
  const rows = nearChanges(rowsWithGaps(hunks));
  const most = look.isExpanded ? SCREEN_LIMITS.unfoldedLines : SCREEN_LIMITS.diffRows;
  const margin = marginFor(rows, width);
  return [
    ...rows.slice(0, most).flatMap((row) => rowLines(row, margin, width, look.paint)),
    ...hiddenLine(rows.length - most, 'more', look),
  ];
}

/** Undefined where lines are left out. */
type ShownRow = DiffRow | undefined;

/** Leaves out the unchanged rows that are far from any change. */
function nearChanges(rows: readonly ShownRow[]): ShownRow[] {
  const near = rows.map(() => false);
  for (const [index, row] of rows.entries()) {
    if (!row || row.sign === ' ') continue;
    const { contextRows } = SCREEN_LIMITS;
    near.fill(true, Math.max(0, index - contextRows), index + contextRows + 1);
  }
  // A change of the line ends alone has only rows that look unchanged.
  if (!near.includes(true)) return [...rows];
  return rows.flatMap((row, index) => {
    if (near[index]) return [row];
    const isFirst = index > 0 && near[index - 1] && near.includes(true, index);
    return isFirst ? [undefined] : [];
  });
}

interface Margin {
  readonly digits: number;
  /** On a narrow screen a row has only one number. */
  readonly hasBoth: boolean;
}

function marginFor(rows: readonly ShownRow[], width: number): Margin {
  const numbers = rows.flatMap((row) => [row?.oldLine ?? 0, row?.newLine ?? 0]);
  const largest = numbers.reduce((most, number) => Math.max(most, number), 0);
  return {
    digits: String(largest).length,
    hasBoth: width >= SCREEN_LIMITS.twoNumbersColumns,
  };
}

function rowLines(
  row: ShownRow,
  { digits, hasBoth }: Margin,
  width: number,
  paint: Paint,
): string[] {
  if (!row) return [paint('dim', '⋯')];
  const { oldLine, newLine } = row;
  const numbers = (hasBoth ? [oldLine, newLine] : [newLine ?? oldLine])
    .map((number) => String(number ?? '').padStart(digits))
    .join(' ');
  const room = Math.max(1, width - numbers.length - SIGN_COLUMNS);
  // A CR at the end is part of the line end, a CR inside is shown as a symbol.
  const text = plain(row.text.replace(/\r$/, '').replaceAll('\r', '\u240d'));
  const lines = wrapTextWithAnsi(shorten(text, MAX_CHARS), room);
  return lines.map((line, index) => {
    const isFirst = index === 0;
    const before = isFirst ? paint('dim', numbers) : ' '.repeat(numbers.length);
    return `${before}${inColour(row, ` ${isFirst ? SIGNS[row.sign] : ' '} ${line}`, paint)}`;
  });
}

function inColour({ sign }: DiffRow, text: string, paint: Paint): string {
  if (sign === ' ') return text;
  return paint(sign === '+' ? 'green' : 'red', text);
}

const SIGNS = { '+': '+', '-': '−', ' ': ' ' } as const;
const SIGN_COLUMNS = 3;

/** UTF-16 units of one row: minified files are one line of megabytes. */
const MAX_CHARS = 2_000;
