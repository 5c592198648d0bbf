import { expect, it } from 'vitest';
import { rowBudget, type Work } from '../../bench/row-budget.ts';

const NOTHING: Work = { seconds: 0, documents: 0, turns: 0, calls: 0 };

it.each<[string, Partial<Work>, number]>([
  ['what every response has', {}, 6],
  ['two seconds of text', { seconds: 2 }, 7],
  ['a document', { documents: 1 }, 7],
  ['a turn', { turns: 1 }, 10],
  ['a call', { calls: 1 }, 11],
  ['a long answer', { seconds: 20, documents: 1, turns: 1 }, 21],
  ['three turns with four calls', { seconds: 0.4, documents: 5, turns: 3, calls: 4 }, 43.2],
])('counts %s', (_, work, rows) => {
  expect(rowBudget({ ...NOTHING, ...work })).toBeCloseTo(rows);
});
