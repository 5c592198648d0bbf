import { expect, test } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import {
  isLiteral,
  literalPattern,
  literalStart,
  matchesWildcard,
} from '../../../shared/text/wildcard.ts';

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
  ['rm [*].log', 'rm *.log', true],
  ['rm [*].log', 'rm a.log', false],
  ['a[?]*', 'a?b', true],
  ['a[?]*', 'axb', false],
  ['[[*]]', '[*]', true],
])('the pattern %j and the text %j: %j', (pattern, text, isMatch) => {
  expect(matchesWildcard(pattern, text)).toBe(isMatch);
});

test('a pattern made to be slow is answered all the same', () => {
  expect(matchesWildcard(`${'*a'.repeat(1_000)}b`, 'a'.repeat(30_000))).toBe(false);
});

test('the pattern of a text matches this text alone', () => {
  const random = new Random(4);
  const texts = Array.from({ length: 400 }, () =>
    Array.from({ length: random.below(6) }, () => random.pick([...'*?[]a'])).join(''),
  );
  for (const text of texts) {
    const pattern = literalPattern(text);
    expect([isLiteral(pattern), literalStart(pattern)]).toEqual([true, text]);
    const others = texts.filter((other) => matchesWildcard(pattern, other) !== (other === text));
    expect(others, pattern).toEqual([]);
  }
  expect(['git *', 'a?', '*', 'a[*]b*'].map(literalStart)).toEqual(['git ', 'a', '', 'a*b']);
  expect(['git *', 'a?', '[*]', 'a'].map(isLiteral)).toEqual([false, false, true, true]);
});
