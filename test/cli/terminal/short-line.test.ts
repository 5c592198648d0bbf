import { expect, test } from 'vitest';
import { foldedAt } from '../../../cli/terminal/short-line.ts';

test.each<[string, string, number | undefined, number, string]>([
  ['a short line stays', 'a b', 10, 0, 'a b'],
  ['without a width it is one line', 'a b c', undefined, 2, 'a b c'],
  ['a line breaks between words', 'aaaa bbbb cc', 9, 0, 'aaaa bbbb\ncc'],
  ['the lines below begin where the text does', 'aaaa bbbb cc', 11, 2, 'aaaa bbbb\n  cc'],
  ['a long word stays whole', 'aaaaaaaaaaaa b', 5, 0, 'aaaaaaaaaaaa\nb'],
  ['a command stays whole', 'run `db config model` so', 14, 0, 'run\n`db config model`\nso'],
])('%s', (_, text, columns, indent, folded) => {
  expect(foldedAt(text, columns, indent)).toBe(folded);
});
