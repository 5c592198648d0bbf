import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Case, linesOf, summaryOf, toPage, toTable } from './table.ts';

const row = { suite: 'Suite', version: '1.0.0' };
const passed: Case = { row, name: 'one', state: 'passed' };
const left: Case = { row, name: 'two', state: 'passed', left: 'a reason' };

it('a case that is left counts, with its reason, but has not passed', () => {
  const lines = linesOf([passed, left, { ...left, name: 'three' }]);
  expect(lines).toEqual([
    { ...row, passed: 1, of: 3, left: ['two, three: a reason'], isBroken: false },
  ]);
  expect(summaryOf(lines)).toBe('1 foreign suites and programs, 1 of 3 cases passed');
  expect(toTable(lines)).toContain('| Suite | 1.0.0 | 1 of 3 | two, three: a reason |');
  expect(toPage(lines)).toContain('| Suite | 1.0.0 | 1 of 3 |\n');
  expect(toPage(lines)).toContain('- Suite:\n  - two, three: a reason');
});

it.each([
  ['fails', { ...passed, state: 'failed' }, '**failed**'],
  ['passes though it is left, and fails the test', { ...left, state: 'failed' }, '**failed**'],
  ['is skipped without a reason', { ...passed, state: 'skipped' }, '**did not run**'],
  ['never ended', { ...passed, state: 'pending' }, '**did not run**'],
] as const)('a case that %s breaks its row', (_, broken, words) => {
  const [line] = linesOf([{ ...passed, name: 'zero' }, broken]);
  expect(line).toMatchObject({ passed: 1, of: 2, isBroken: true });
  expect(line?.left).toEqual([`${broken.name}: ${words}`]);
});

it('a suite that cannot run is in the table as not run, and in no total', () => {
  const notRun = 'no registry answers';
  const other: Case = {
    row: { suite: 'Another', version: '2.0.0', notRun },
    name: 'one',
    state: 'skipped',
  };
  const lines = linesOf([passed, other]);
  expect(lines.map(({ suite, isBroken }) => [suite, isBroken])).toEqual([
    ['Another', false],
    ['Suite', false],
  ]);
  expect(toTable(lines)).toContain('| Another | 2.0.0 | not run | no registry answers |');
  expect(summaryOf(lines)).toBe('1 foreign suites and programs, 1 of 1 cases passed; 1 not run');
});

it('README.md has the summary of the last table', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const [, summary = 'none'] =
    /^(\d.*) \(\d{4}-\d\d-\d\d\)\.$/m.exec(read('docs/conformance.md')) ?? [];
  expect(read('README.md')).toContain(`(docs/conformance.md):\n${summary}.`);
});
