/** Notebooks that are as large and as odd as a file may be: each is answered in bounded time, and the loop turns. */
import { expect, it } from 'vitest';
import { COMPUTE_LIMITS } from '../../../../machine/compute/limits.ts';
import { TOOL_LIMITS } from '../../../../shared/limits.ts';
import {
  MOST_STANDSTILL_MS,
  shortestStandstill,
} from '../../../../test/bridge/compute/heartbeat.ts';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';

const SIZE = TOOL_LIMITS.maxFileBytes - 1_000;
const HEAD = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [';
const CELL = '{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": []}';

function filled(piece: string, room: number): string {
  return Array.from({ length: Math.floor(room / (piece.length + 1)) }, () => piece).join(',');
}

const NOTEBOOKS: readonly [string, string][] = [
  [
    'millions of empty outputs',
    `${HEAD}${CELL.replace('"outputs": []', `"outputs": [${filled('0', SIZE)}]`)}]}`,
  ],
  [
    'millions of lines',
    `${HEAD}${CELL.replace('"source": []', `"source": [${filled('"a\\n"', SIZE)}]`)}]}`,
  ],
  ['a hundred thousand cells', `${HEAD}${filled(CELL, SIZE)}]}`],
  ['nothing but white space', `${HEAD}${CELL}${' '.repeat(SIZE - 500)}]}`],
  [
    'one long string',
    `${HEAD}${CELL.replace('"source": []', `"source": "${'x'.repeat(SIZE - 500)}"`)}]}`,
  ],
  ['no end', `${HEAD}${filled(CELL, SIZE)}`],
];

it.each(NOTEBOOKS)('a notebook of %s', async (_, text) => {
  const { result, standstillMs } = await shortestStandstill(async () => {
    const { call } = await temporaryWorkspace({ 'a.ipynb': text });
    return async () => {
      const begun = performance.now();
      const read = await call('read_file', { target_file: 'a.ipynb' });
      const args = { target_notebook: 'a.ipynb', cell_index: 0, new_string: 'x = 1' };
      const edited = await call('edit_notebook', args);
      return { read, edited, tookMs: performance.now() - begun };
    };
  });
  const codeOf = ({ status, ...rest }: (typeof result)['read']) =>
    'code' in rest ? rest.code : status;
  const outcomes = [codeOf(result.read), codeOf(result.edited)];
  expect(['success', 'TOO_COMPLEX']).toContain(outcomes[0]);
  expect(['success', 'TOO_COMPLEX', 'NOT_A_NOTEBOOK', 'READ_FIRST']).toContain(outcomes[1]);
  expect(result.read.data.length).toBeLessThan(TOOL_LIMITS.maxResultChars + 1_000);
  expect(result.tookMs).toBeLessThan(3 * COMPUTE_LIMITS.maxMs);
  expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
});
