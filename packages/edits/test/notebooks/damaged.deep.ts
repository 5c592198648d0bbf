/** Notebooks with random damage: each is refused with a code, or stays valid in what an edit makes of it. */
import { expect, it } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import { ToolFailure } from '../../../../machine/failure.ts';
import { editNotebook, type NotebookEdit } from '../../notebook.ts';
import { readNotebook } from '../../notebooks/notebook.ts';
import { showNotebook } from '../../notebooks/show.ts';
import { notebookOf } from './notebooks.ts';

const DAMAGE = [
  ...['', '{', '}', '[', ']', ',', ':', '"', '\\', '0', '-', 'NaN', 'null', '1e999', '\u0000'],
  ...['\uFEFF', '/* a */', '"source": 1,', '"cells": [],', '"nbformat": 3,', '"id": "cell-0",'],
];
const MODES = ['replace', 'insert_before', 'insert_after', 'delete'] as const;

function codeOf(work: () => void): string {
  try {
    work();
    return 'success';
  } catch (error) {
    if (error instanceof ToolFailure) return error.code;
    throw error;
  }
}

it('a damaged notebook is refused with a code, and never made worse', () => {
  const codes = new Map<string, number>();
  for (let seed = 0; seed < 2_000; seed++) {
    const random = new Random(seed);
    const { text } = notebookOf(random);
    const at = random.below(text.length);
    const piece = random.pick(DAMAGE);
    const damaged = text.slice(0, at) + piece + text.slice(at + random.below(3));
    const edit: NotebookEdit = {
      kind: 'cell',
      mode: random.pick(MODES),
      index: random.below(3),
      source: 'x = 1',
      id: undefined,
      type: undefined,
      search: undefined,
      keepOutputs: random.chance(0.5),
    };
    const code = codeOf(() => {
      showNotebook(readNotebook('a.ipynb', damaged));
      const { after } = editNotebook('a.ipynb', damaged, edit);
      showNotebook(readNotebook('a.ipynb', after));
    });
    codes.set(code, (codes.get(code) ?? 0) + 1);
    if (code !== 'NOT_A_NOTEBOOK') expect(() => JSON.parse(damaged)).not.toThrow();
  }
  expect([...codes.keys()].sort()).toEqual([
    ...['CELL_NOT_FOUND', 'NOTEBOOK_VERSION', 'NOT_A_NOTEBOOK', 'success'],
  ]);
});
