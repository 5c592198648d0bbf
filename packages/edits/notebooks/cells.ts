/** Changes one cell of a notebook: the text with the change, in which every byte outside of the cell is the same. */
import { sha256 } from '../../../machine/hash.ts';
import {
  printJson,
  spliced,
  styleOf,
  withMember,
  withoutMember,
  withoutSibling,
  withSibling,
} from './json-text.ts';
import { NOTEBOOK_LIMITS } from './limits.ts';
import {
  type CellType,
  type Lines,
  memberOf,
  type Notebook,
  type PlacedCell,
  textOfLines,
} from './notebook.ts';

/** A cell's new content. */
export interface CellContent {
  readonly type: CellType;
  readonly source: string;
}

/**
 * Replaces the source of a cell, and its type. The outputs of code go with the old source, unless `keepOutputs`. A cell
 * that has this content already stays as it is.
 */
export function replaceCell(
  { text, root }: Notebook,
  { cell, node }: PlacedCell,
  { type, source }: CellContent,
  { keepOutputs }: { keepOutputs: boolean },
): string {
  if (type === cell.cell_type && source === textOfLines(cell.source)) return text;
  const style = styleOf(text, root);
  let object = text.slice(node.offset, node.offset + node.length);
  const set = (name: string, value: unknown, known?: ReadonlyMap<string, string>) => {
    object = withMember(object, name, value, style, known);
  };
  if (type !== 'code') for (const name of OF_CODE) object = withoutMember(object, name);
  else if (cell.cell_type !== 'code') {
    for (const name of OF_TEXT) object = withoutMember(object, name);
    set('execution_count', null);
    set('outputs', []);
  } else if (!keepOutputs) {
    if (cell.outputs !== undefined && cell.outputs.length > 0) set('outputs', []);
    if (typeof cell.execution_count === 'number') set('execution_count', null);
  }
  if (type !== cell.cell_type) set('cell_type', type);
  if (source !== textOfLines(cell.source)) {
    set('source', linesOf(source, cell.source), writtenLines(text, node, cell.source));
  }
  return spliced(text, node, object);
}

/** Inserts a cell, which has this index then. */
export function insertCell(
  { text, root, list, cells, hasIds }: Notebook,
  index: number,
  { type, source }: CellContent,
): string {
  const style = styleOf(text, root);
  const isCode = type === 'code';
  // In alphabetical order, as Jupyter writes them.
  const cell = {
    cell_type: type,
    ...(isCode && { execution_count: null }),
    ...(hasIds && { id: newId(cells, `${index}\0${source}`) }),
    metadata: {},
    ...(isCode && { outputs: [] }),
    source: linesOf(source, cells[0]?.cell.source ?? []),
  };
  return withSibling(text, list, index, (base) => printJson(cell, style, base), style);
}

/** Deletes the cell with this index. */
export function deleteCell({ text, list }: Notebook, index: number): string {
  return withoutSibling(text, list, index);
}

/** Members that only code has, and members that only text has. */
const OF_CODE = ['execution_count', 'outputs'];
const OF_TEXT = ['attachments'];

/** In the form that another source has. */
function linesOf(source: string, form: Lines): Lines {
  if (typeof form === 'string') return source;
  return source === '' ? [] : source.split(/(?<=\n)/);
}

/** The JSON of each line as the file has it: an unchanged line keeps its escapes. */
function writtenLines(text: string, cell: PlacedCell['node'], old: Lines): Map<string, string> {
  if (typeof old === 'string') return new Map();
  const source = memberOf(cell, 'source')?.children?.[1];
  return new Map(
    source?.children?.map(({ value, offset, length }) => [
      String(value),
      text.slice(offset, offset + length),
    ]),
  );
}

/** The same for the same change: a proposal that is made again must be the same. */
function newId(cells: readonly PlacedCell[], seed: string): string {
  const taken = new Set(cells.map(({ cell }) => cell.id));
  for (let attempt = 0; ; attempt++) {
    const id = sha256(`${attempt}\0${seed}`).slice(0, NOTEBOOK_LIMITS.newIdChars);
    if (!taken.has(id)) return id;
  }
}
