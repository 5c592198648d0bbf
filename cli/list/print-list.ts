/** Prints a list: a table at a terminal, a line with tabs for each item in a pipe, or a line of JSON for each item. */
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { alignedLines, localTime } from '../render/table.ts';
import { jsonLine, type Terminal } from '../terminal/terminal.ts';

/** The cells of an item, by the headings of their columns. A person sees a `Date` as local time, a program as UTC. */
export type Columns<Item> = Readonly<
  Record<string, (item: Item) => CellValue | Promise<CellValue>>
>;

/** Null and undefined where there is nothing to say. */
type CellValue = string | Date | null | undefined;

/** How the items of one list are shown. */
export interface ListFormat<Item> {
  readonly columns: Columns<Item>;
  /** The sentence for a person where the list has no items. */
  readonly empty: string;
  /** The item for programs; the item itself if not given. */
  json?(item: Item): object | Promise<object>;
}

/** Texts from outside stay within their cell, and control no terminal. */
export async function printList<Item>(
  terminal: Terminal,
  items: readonly Item[],
  { columns, empty, json: jsonOf = Object }: ListFormat<Item>,
  json: boolean,
): Promise<void> {
  if (json) {
    for (const item of items) terminal.writeOut(jsonLine(await jsonOf(item)));
    return;
  }
  if (items.length === 0) return terminal.write(`${empty}\n`);
  const isTable = terminal.columns !== undefined;
  const rows = await Promise.all(items.map((item) => rowOf(item, columns, isTable)));
  if (!isTable) {
    for (const row of rows) terminal.writeOut(`${row.join('\t')}\n`);
    return;
  }
  const [head = '', ...lines] = alignedLines([Object.keys(columns), ...rows]);
  terminal.writeOut(`${terminal.paint('dim', head)}\n`);
  for (const line of lines) terminal.writeOut(`${line}\n`);
}

async function rowOf<Item>(
  item: Item,
  columns: Columns<Item>,
  isTable: boolean,
): Promise<string[]> {
  const cells = await Promise.all(Object.values(columns).map((cell) => cell(item)));
  return cells.map((cell) => {
    if (!(cell instanceof Date)) return nameInLine(cell ?? '');
    if (Number.isNaN(cell.getTime())) return 'unknown';
    return isTable ? localTime(cell.toISOString()) : cell.toISOString();
  });
}
