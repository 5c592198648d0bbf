/** A list of conversations as text: columns for a person, tabs for a program. */
import type { ConversationInfo } from '../../shared/api/conversations.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import type { Paint } from '../terminal/paint.ts';

/** The line above a list; empty in a pipe, where `columns` is undefined. */
export function headerLine(columns: number | undefined, paint: Paint): string {
  if (columns === undefined) return '';
  return `${paint('dim', row('ID'.padEnd(ID_COLUMNS), 'ANSWERED', 'TITLE', columns))}\n`;
}

/** One conversation. For a person it is never wider than the terminal; for a program it is complete, with UTC time. */
export function conversationLine(
  { id, updated, title }: ConversationInfo,
  columns: number | undefined,
): string {
  const text = printableLine(title, REQUEST_LIMITS.maxNameChars);
  if (columns === undefined) return `${[id, updated, text].join('\t')}\n`;
  return `${row(id, formatTime(new Date(updated)), text, columns)}\n`;
}

/** Leaves out the time on a narrow terminal. */
function row(id: string, time: string, title: string, columns: number): string {
  const rest = columns - (ID_COLUMNS + GAP.length) - (TIME_COLUMNS + GAP.length);
  const times = rest < CLI_LIMITS.minTitleColumns ? [] : [time.padEnd(TIME_COLUMNS)];
  return fitColumns([id, ...times, title].join(GAP), columns).trimEnd();
}

const GAP = '  ';
const ID_COLUMNS = 'conv_00000000-0000-4000-8000-000000000000'.length;
const TIME_COLUMNS = '2026-01-01 00:00'.length;

/** The local time, to the minute. */
function formatTime(time: Date): string {
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
