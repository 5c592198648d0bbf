/** Tables for a terminal, and the rows of conversations and agents, which fit its width. */
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import type { Paint } from '../terminal/paint.ts';

/** One line of a list. */
export interface ListedRow {
  readonly id: string;
  /** ISO 8601, in UTC. */
  readonly updated: string;
  /** In a word; empty where there is nothing to say. */
  readonly state: string;
  /** The folder's name; empty where it is not known. */
  readonly folder: string;
  readonly title: string;
}

/** The line above a list for a person, as wide as its lines. */
export function headerLine(columns: number, paint: Paint): string {
  const head = ['ID'.padEnd(ID_COLUMNS), 'ANSWERED', 'STATE', 'FOLDER', 'TITLE'] as const;
  return `${paint('dim', row(head, columns))}\n`;
}

/** For a person: never wider than the terminal, with local times. What does not fit beside the title is left out. */
export function listLine(
  { id, updated, state, folder, title }: ListedRow,
  columns: number,
): string {
  return `${row([id, localTime(updated), state, inLine(folder), inLine(title)], columns)}\n`;
}

function inLine(text: string): string {
  return printableLine(text, REQUEST_LIMITS.maxNameChars);
}

function row(
  [id, time, state, folder, title]: readonly [string, string, string, string, string],
  columns: number,
): string {
  let rest = columns - (ID_COLUMNS + GAP.length);
  const cells = [time, state, folder].flatMap((text, at) => {
    const width = WIDTHS[at] ?? 0;
    if (rest - (width + GAP.length) < CLI_LIMITS.minTitleColumns) return [];
    rest -= width + GAP.length;
    return [padColumns(fitColumns(text, width), width)];
  });
  return fitColumns([id, ...cells, title].join(GAP), columns).trimEnd();
}

const GAP = '  ';
const ID_COLUMNS = 'conv_00000000-0000-4000-8000-000000000000'.length;
/** Of the time, the state and the folder. */
const WIDTHS = ['2026-01-01 00:00'.length, 'waits for you'.length, 16] as const;

/** Rows of a table: each column is as wide as its widest cell. `isRight` says which columns end at the right. */
export function alignedLines(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean = () => false,
): string[] {
  const widths =
    rows[0]?.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? '')))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const fill = ' '.repeat((widths[at] ?? 0) - widthOf(cell));
        return isRight(at) ? fill + cell : cell + fill;
      })
      .join(GAP)
      .trimEnd(),
  );
}

function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** ISO 8601 in UTC as a person's own time, to the minute. */
export function localTime(utc: string): string {
  const time = new Date(utc);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Cuts text that is wider than the columns and ends it with `…`. */
export function fitColumns(text: string, columns: number): string {
  if (columns < 1) return '';
  const fitting = startOf(text, columns);
  return fitting === text ? text : `${startOf(text, columns - 1)}…`;
}

function widthOf(text: string): number {
  return [...CHARACTERS.segment(text)].reduce((sum, { segment }) => sum + columnsOf(segment), 0);
}

function startOf(text: string, columns: number): string {
  let width = 0;
  let start = '';
  for (const { segment } of CHARACTERS.segment(text)) {
    width += columnsOf(segment);
    if (width > columns) break;
    start += segment;
  }
  return start;
}

const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Terminals differ over rare characters; in doubt this counts the larger width. */
function columnsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}

/** East Asian scripts with their punctuation and full-width forms, and emoji. */
const WIDE = new RegExp(
  [
    String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}`,
    String.raw`\u3000-\u303f\uff01-\uff60\uffe0-\uffe6\p{Extended_Pictographic}\p{Regional_Indicator}]`,
  ].join(''),
  'u',
);
