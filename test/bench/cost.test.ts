import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { costTable, monthlyPriceOf, priceOf, type Use, uses } from '../../bench/cost.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'hosting.md');
const NOTHING: Use = { rows: 0, objectRequests: 0, gbSeconds: 0, workerRequests: 0 };

it('is the table that the page on hosting shows', () => {
  const cellsOf = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map(trim));
  const trim = (cell: string) => cell.trim().replace(/^-+/, '---').replace(/^-+:$/, '---:');
  const section = readFileSync(PAGE, 'utf8').split('### What it costs')[1]?.split('\n## ')[0] ?? '';
  expect(cellsOf(section)).toEqual(cellsOf(costTable()));
});

it.each<[string, Partial<Use>, number]>([
  ['a million rows', { rows: 1_000_000 }, 1],
  ['a million requests to objects', { objectRequests: 1_000_000 }, 0.15],
  ['a million GB-s', { gbSeconds: 1_000_000 }, 12.5],
  ['a million requests to the Worker', { workerRequests: 1_000_000 }, 0.3],
])('prices %s', (_, use, dollars) => {
  expect(priceOf({ ...NOTHING, ...use })).toBeCloseTo(dollars);
});

it('bills a month with the plan, and only what the plan leaves out', () => {
  expect(monthlyPriceOf(NOTHING)).toBe(5);
  expect(monthlyPriceOf({ ...NOTHING, rows: 50_000_000 })).toBe(5);
  expect(monthlyPriceOf({ ...NOTHING, rows: 52_000_000 })).toBeCloseTo(7);
});

it('counts no answer as free, and more users as dearer', () => {
  const [chat, hour, user, users] = uses().map(([, use]) => use);
  if (!chat || !hour || !user || !users) throw new Error('a row is missing');
  expect(Object.values(chat).every((count) => count > 0)).toBe(true);
  expect(hour.rows).toBeGreaterThan(chat.rows);
  expect(users.rows).toBe(1_000 * user.rows);
});
