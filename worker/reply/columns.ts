/** Counts the columns of a line like Markdown: a tab advances to the next multiple of four. */

const TAB_STOP = 4;

/** The column after `char`, which begins at `column`. */
export function columnAfter(char: string, column: number): number {
  return char === '\t' ? column + TAB_STOP - (column % TAB_STOP) : column + 1;
}

/** Removes the first `columns` of `space`, the blanks and tabs at a line's start. A split tab leaves blanks. */
export function withoutColumns(space: string, columns: number): string {
  let column = 0;
  for (let index = 0; index < space.length; index++) {
    if (column >= columns) return ' '.repeat(column - columns) + space.slice(index);
    column = columnAfter(space.charAt(index), column);
  }
  return ' '.repeat(Math.max(0, column - columns));
}
