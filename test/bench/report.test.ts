import { expect, it } from 'vitest';
import { type Figure, ratioOf, verdictOf } from '../../bench/figure.ts';
import { formatJson, formatTable } from '../../bench/report.ts';
import { median, percentile } from '../../bench/statistics.ts';

const base = { what: 'a turn', unit: 'ms', bare: 4, ours: 6 } as const;

const VERDICTS: readonly [string, Figure, 'ok' | 'short' | null][] = [
  ['no target', base, null],
  ['a ratio that is just kept', { ...base, target: { maxRatio: 1.5 } }, 'ok'],
  ['a ratio that is broken', { ...base, target: { maxRatio: 1.4 } }, 'short'],
  ['a bound that is broken', { ...base, target: { max: 5 } }, 'short'],
  ['one bound of two broken', { ...base, target: { maxRatio: 2, max: 5 } }, 'short'],
  ['both kept', { ...base, target: { maxRatio: 2, max: 6 } }, 'ok'],
  ['nothing measured', { ...base, ours: null, target: { max: 5 } }, null],
];

it.each(VERDICTS)('judges %s', (_, figure, verdict) => {
  expect(verdictOf(figure)).toBe(verdict);
});

it('has no ratio to what was not measured', () => {
  expect(ratioOf(base)).toBe(1.5);
  expect(ratioOf({ ...base, bare: null })).toBeNull();
  expect(ratioOf({ ...base, ours: null })).toBeNull();
});

it('takes the smallest sample that the share does not exceed', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(percentile([4, 3, 2, 1], 0.95)).toBe(4);
  expect(percentile([5], 0.5)).toBe(5);
  expect(() => median([])).toThrow('nothing to take a percentile of');
});

it('reports the same figures as a table and as JSON', () => {
  const figures: Figure[] = [
    { ...base, floor: 5, target: { maxRatio: 1.5, max: 12 }, peers: { opencode: '50 ms' } },
  ];
  const sections = [{ letter: 'c', title: 'tool turns', figures }];
  const [, row] = formatTable(sections).split('\n');
  expect(row?.split(/\s{2,}/)).toEqual([
    'c',
    'a turn',
    '4.00 ms',
    '5.00 ms',
    '6.00 ms',
    '1.50',
    '<= 1.5 x bare, 12 ms',
    'ok',
    '-',
    '50 ms',
  ]);
  expect(JSON.parse(formatJson(sections)).figures).toEqual([
    { case: 'c', ...figures[0], ratio: 1.5, verdict: 'ok' },
  ]);
});
