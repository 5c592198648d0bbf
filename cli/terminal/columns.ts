/** How wide text stands in a terminal. */

/** The text, cut at the end where it is wider than the columns; `…` says that it was. */
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

/** Terminals differ over rare characters; where in doubt this takes the wider. */
function columnsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}

/** East Asian scripts with their punctuation and full-width forms, and pictures. */
const WIDE = new RegExp(
  [
    String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}`,
    String.raw`\u3000-\u303f\uff01-\uff60\uffe0-\uffe6\p{Extended_Pictographic}\p{Regional_Indicator}]`,
  ].join(''),
  'u',
);
