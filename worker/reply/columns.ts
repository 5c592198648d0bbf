/** Columns of a line as Markdown counts them: a tab goes on to the next multiple of four. */

const TAB_STOP = 4;

/** The column behind `char`, which begins at `column`. */
export function columnAfter(char: string, column: number): number {
  return char === '\t' ? column + TAB_STOP - (column % TAB_STOP) : column + 1;
}

/** `space` (blanks and tabs from the line's start) without its first `columns`; a tab cut in two leaves blanks. */
export function withoutColumns(space: string, columns: number): string {
  let column = 0;
  for (let index = 0; index < space.length; index++) {
    if (column >= columns) return ' '.repeat(column - columns) + space.slice(index);
    column = columnAfter(space.charAt(index), column);
  }
  return ' '.repeat(Math.max(0, column - columns));
}
