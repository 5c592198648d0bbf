import { expect, it } from 'vitest';
import { DAILY, IGNORED, linesThatPrint, printedBy, repository } from './committed-lines.ts';

it('of all forms of git’s lines, each that prints committed content of a closed file asks', async () => {
  const { asked, silent } = await linesThatPrint(1);
  expect(silent).toEqual([]);
  expect(asked).toBeGreaterThan(500);
});

it('lines that ask nothing print none of it', async () => {
  expect(printedBy(await repository(IGNORED), DAILY)).toEqual([]);
});
