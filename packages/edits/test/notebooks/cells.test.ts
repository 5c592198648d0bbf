/** What an edit of a cell leaves as it is, over generated notebooks. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import { editNotebook, type NotebookEdit } from '../../notebook.ts';
import { readNotebook, textOfLines } from '../../notebooks/notebook.ts';
import { notebookOf } from './notebooks.ts';

const SEEDS = Array.from({ length: 150 }, (_, seed) => seed);
const EDIT: NotebookEdit = {
  kind: 'cell',
  mode: 'replace',
  id: undefined,
  index: 0,
  type: undefined,
  search: undefined,
  source: 'new = "1"\nlines\n',
  keepOutputs: false,
};

/** The text before and behind each cell, and each cell's own text. */
function piecesOf(text: string) {
  const { cells } = readNotebook('a.ipynb', text);
  const spans = cells.map(({ node }) => text.slice(node.offset, node.offset + node.length));
  const first = cells[0]?.node.offset ?? 0;
  const last = cells.at(-1)?.node;
  const tail = text.slice(last === undefined ? 0 : last.offset + last.length);
  return { spans, head: text.slice(0, first), tail, cells: cells.map(({ cell }) => cell) };
}

describe('generated notebooks', () => {
  it('a replaced cell leaves every byte outside of it, and each other member, as it was', () => {
    for (const seed of SEEDS) {
      const random = new Random(seed);
      const { text, count } = notebookOf(random);
      if (count === 0) continue;
      const index = random.below(count);
      const type = random.pick([undefined, 'code', 'markdown', 'raw'] as const);
      const { after } = editNotebook('a.ipynb', text, { ...EDIT, index, type });
      const [old, now] = [piecesOf(text), piecesOf(after)];
      expect([now.head, now.tail]).toEqual([old.head, old.tail]);
      expect(now.spans.toSpliced(index, 1)).toEqual(old.spans.toSpliced(index, 1));
      const [was, is] = [old.cells[index], now.cells[index]];
      const wanted = type ?? was?.cell_type;
      expect([is?.cell_type, textOfLines(is?.source ?? ''), typeof is?.source]).toEqual([
        wanted,
        EDIT.source,
        typeof was?.source,
      ]);
      expect([is?.outputs, is?.execution_count]).toEqual(
        wanted === 'code' ? [[], null] : [undefined, undefined],
      );
      // Members that nothing addresses keep their place and their digits.
      for (const raw of ['123456789012345678901234567890.10e+5', '1.0', '"zz_first"']) {
        expect(now.spans[index]?.includes(raw)).toBe(old.spans[index]?.includes(raw));
      }
    }
  });

  it('a changed piece leaves the JSON of all other lines as it was', () => {
    for (const seed of SEEDS) {
      const random = new Random(seed);
      const { text, count, style } = notebookOf(random);
      const { cells } = readNotebook('a.ipynb', text);
      const index = cells.findIndex(({ cell }) => textOfLines(cell.source).includes('import os'));
      if (index < 0 || count === 0) continue;
      const change = { search: 'import os', source: 'import re', keepOutputs: true };
      const { after } = editNotebook('a.ipynb', text, { ...EDIT, ...change, index });
      const isList = Array.isArray(cells[index]?.cell.source);
      if (isList || !style.isAscii) expect(after).toBe(replacedIn(text, cells[index]?.node));
    }
  });

  it('an inserted cell adds only itself, and deleted again leaves the file as it was', () => {
    for (const seed of SEEDS) {
      const random = new Random(seed);
      const { text, count, style } = notebookOf(random);
      const index = random.below(count + 1);
      const type = random.pick(['code', 'markdown', 'raw'] as const);
      const insert = { ...EDIT, mode: 'insert_before', index, type } as const;
      const { after } = editNotebook('a.ipynb', text, insert);
      const now = piecesOf(after);
      expect(now.spans.toSpliced(index, 1)).toEqual(piecesOf(text).spans);
      expect(textOfLines(now.cells[index]?.source ?? '')).toBe(EDIT.source);
      const ids = now.cells.flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
      if (count === 0) continue;
      const again = editNotebook('a.ipynb', after, { ...EDIT, mode: 'delete', index }).after;
      // In one line the first cell has another gap than the rest.
      if (style.unit !== null) expect(again).toBe(text);
      else expect(JSON.parse(again)).toEqual(JSON.parse(text));
    }
  });

  it('a new cell has the form of the others', () => {
    for (const seed of SEEDS) {
      const { text, count, style } = notebookOf(new Random(seed));
      if (count === 0 || style.unit === null) continue;
      const edit = { ...EDIT, mode: 'insert_after', index: count - 1 } as const;
      const { after } = editNotebook('a.ipynb', text, edit);
      const made = piecesOf(after).spans.at(-1) ?? '';
      const base = style.unit.repeat(3);
      expect(made.startsWith(`{${style.eol}${base}"cell_type"${style.colon}"code",`)).toBe(true);
      expect(made.endsWith(`${style.eol}${style.unit.repeat(2)}}`)).toBe(true);
    }
  });

  it('a deleted cell takes only itself away', () => {
    for (const seed of SEEDS) {
      const random = new Random(seed);
      const { text, count } = notebookOf(random);
      if (count === 0) continue;
      const index = random.below(count);
      const { after } = editNotebook('a.ipynb', text, { ...EDIT, mode: 'delete', index });
      expect(piecesOf(after).spans).toEqual(piecesOf(text).spans.toSpliced(index, 1));
    }
  });
});

function replacedIn(text: string, node?: { readonly offset: number; readonly length: number }) {
  const { offset, length } = node ?? { offset: 0, length: 0 };
  const cell = text.slice(offset, offset + length).replace('import os', 'import re');
  return text.slice(0, offset) + cell + text.slice(offset + length);
}
