import { expect, it } from 'vitest';
import { plainTitle } from '../../../../worker/conversation/store/title.ts';

it.each<[string, string | null]>([
  ['Retry of failed uploads', 'Retry of failed uploads'],
  ['  "Retry of failed uploads."  ', 'Retry of failed uploads'],
  ['\n\n## **Title: Retry**\nBecause', 'Retry'],
  ['„Dateien umbenennen“', 'Dateien umbenennen'],
  ['`npm test` in CI', 'npm test in CI'],
  ['a\u202eb\u0007c\td', 'a b c d'],
  ['half \ud83d of it', 'half of it'],
  ['Node.js', 'Node.js'],
  [' "" \n***', null],
  ['', null],
  ['x'.repeat(500), `${'x'.repeat(79)}…`],
])('%j becomes %j', (written, title) => {
  expect(plainTitle(written)).toBe(title);
});

it('takes what is long on purpose', () => {
  expect(plainTitle(`x${'*'.repeat(500_000)}y`)).toBe(`x${'*'.repeat(78)}…`);
});
