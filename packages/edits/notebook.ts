/** An edit of one cell of a notebook. */
import { ToolFailure } from '../../machine/failure.ts';
import { diffTexts, formatChange } from './diff.ts';
import { replaceText } from './ladder.ts';
import { assertLiteral } from './literal.ts';
import { deleteCell, insertCell, replaceCell } from './notebooks/cells.ts';
import {
  type CellType,
  type Notebook,
  type PlacedCell,
  readNotebook,
  textOfLines,
} from './notebooks/notebook.ts';
import { nameCell } from './notebooks/show.ts';

export interface NotebookEdit {
  readonly kind: 'cell';
  readonly mode: 'replace' | 'insert_before' | 'insert_after' | 'delete';
  /** One of the two, or both for the same cell. The place behind the last cell has an index, too. */
  readonly id: string | undefined;
  readonly index: number | undefined;
  /** Undefined: the type stays, and a new cell is code. */
  readonly type: CellType | undefined;
  /** A piece of the source that is replaced; undefined: the whole source. */
  readonly search: string | undefined;
  readonly source: string;
  readonly keepOutputs: boolean;
}

/** `changes` are those of the source, for the model. */
export interface EditedNotebook {
  readonly after: string;
  readonly note: string;
  readonly changes: string;
}

/** Throws a {@link ToolFailure} for a notebook that cannot be edited, and for a cell that is not there. */
export function editNotebook(name: string, text: string, edit: NotebookEdit): EditedNotebook {
  const notebook = readNotebook(name, text);
  const { mode } = edit;
  if (mode === 'insert_before' || mode === 'insert_after') return inserted(name, notebook, edit);
  const index = placeOf(name, notebook, edit);
  const found = notebook.cells[index];
  if (found === undefined) throw noSuchCell(name, notebook, `index ${index}`);
  return mode === 'delete'
    ? deleted(notebook, index, found)
    : replaced(name, notebook, { edit, index, found });
}

function inserted(name: string, notebook: Notebook, edit: NotebookEdit): EditedNotebook {
  const { length } = notebook.cells;
  const at = placeOf(name, notebook, edit);
  const index = edit.mode === 'insert_after' ? at + 1 : at;
  if (index > length) throw noSuchCell(name, notebook, `index ${at}`);
  const { type = 'code', source } = edit;
  assertLiteral(source, '');
  const after = insertCell(notebook, index, { type, source });
  const made = readNotebook(name, after).cells[index]?.cell;
  const what = made === undefined ? '' : nameCell(made, index);
  const moved = index < length ? ' The cells behind it have moved by one.' : '';
  return { after, note: `Inserted ${what}.${moved}`, changes: changeOf('', source) };
}

function deleted(notebook: Notebook, index: number, { cell }: PlacedCell): EditedNotebook {
  const isLast = index === notebook.cells.length - 1;
  const moved = isLast ? '' : ' The cells behind it have moved by one.';
  return {
    after: deleteCell(notebook, index),
    note: `Deleted ${nameCell(cell, index)}.${moved}`,
    changes: changeOf(textOfLines(cell.source), ''),
  };
}

/** A cell to replace. */
interface CellEdit {
  readonly edit: NotebookEdit;
  readonly index: number;
  readonly found: PlacedCell;
}

function replaced(
  name: string,
  notebook: Notebook,
  { edit, index, found }: CellEdit,
): EditedNotebook {
  const { cell } = found;
  const { type = cell.cell_type, keepOutputs } = edit;
  const old = textOfLines(cell.source);
  const source = sourceAfter(`${name}, cell ${index}`, old, edit);
  assertLiteral(source, old);
  const after = replaceCell(notebook, found, { type, source }, { keepOutputs });
  const isRan = (cell.outputs?.length ?? 0) > 0 || typeof cell.execution_count === 'number';
  const isCleared = after !== notebook.text && isRan && !(keepOutputs && type === 'code');
  const note = `Changed ${nameCell({ ...cell, cell_type: type }, index)}.`;
  return {
    after,
    note: `${note}${isCleared ? ' Its outputs were cleared: they belonged to the old source.' : ''}`,
    changes: changeOf(old, source),
  };
}

function sourceAfter(where: string, old: string, { search, source }: NotebookEdit): string {
  if (search === undefined) return source;
  const replaced = replaceText(old, search, source);
  if (replaced.ok) return replaced.text;
  // The ladder calls the text that it searches a file.
  throw new ToolFailure(replaced.code, `${where}, searched like a file: ${replaced.message}`);
}

/** The index that the edit names. It can be behind the last cell. */
function placeOf(
  name: string,
  notebook: Notebook,
  { id, index }: Pick<NotebookEdit, 'id' | 'index'>,
): number {
  if (id === undefined) return index ?? 0;
  const found = notebook.cells.flatMap(({ cell }, at) => (cell.id === id ? [at] : []));
  const [first] = found;
  if (first === undefined) throw noSuchCell(name, notebook, `id ${JSON.stringify(id)}`);
  if (index === undefined ? found.length === 1 : found.includes(index)) return index ?? first;
  const cells = found.length === 1 ? `Cell ${first} has` : `Cells ${found.join(', ')} have`;
  throw new ToolFailure(
    'AMBIGUOUS_CELL',
    `${name}: ${cells} the id ${JSON.stringify(id)}: give the cell_index of the one you mean.`,
  );
}

function noSuchCell(name: string, { cells }: Notebook, what: string): ToolFailure {
  const there =
    cells.length === 0 ? 'it has no cells' : `its cells have the indexes 0 to ${cells.length - 1}`;
  return new ToolFailure(
    'CELL_NOT_FOUND',
    `${name} has no cell with the ${what}, ${there}: read it with read_file to see its cells.`,
  );
}

function changeOf(before: string, after: string): string {
  const changes = diffTexts(before, after);
  return changes === null ? '' : formatChange(changes).text;
}
