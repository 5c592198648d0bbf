import { expect, test } from 'vitest';
import { matchesWildcard } from '../../../bridge/admission/wildcard.ts';

test.each([
  ['', '', true],
  ['', 'a', false],
  ['a', 'a', true],
  ['a', 'ab', false],
  ['*', '', true],
  ['*', 'anything\nat all', true],
  ['git push*', 'git push', true],
  ['git push*', 'git push --force', true],
  ['git push*', 'git pull', false],
  ['*.ts', 'src/a.ts', true],
  ['*.ts', 'src/a.tsx', false],
  ['a*b*c', 'aXXbYYbZc', true],
  ['a*b*c', 'aXXcYYb', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a.c', 'abc', false],
  ['[ab]', '[ab]', true],
  ['[ab]', 'a', false],
  ['a**', 'a', true],
])('the pattern %j and the text %j: %j', (pattern, text, isMatch) => {
  expect(matchesWildcard(pattern, text)).toBe(isMatch);
});

test('a pattern made to be slow is answered all the same', () => {
  expect(matchesWildcard(`${'*a'.repeat(1_000)}b`, 'a'.repeat(30_000))).toBe(false);
});
