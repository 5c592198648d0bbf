import { expect, it } from 'vitest';
import {
  cutMiddle,
  cutTagged,
  firstLine,
  levelFor,
  newestWithin,
} from '../../../../../worker/conversation/memory/window/text.ts';

it('keeps head and tail within a length, and no half of a surrogate pair', () => {
  const text = 'a😀b'.repeat(100);
  for (let length = 0; length <= text.length; length++) {
    const cut = cutMiddle(text, length);
    expect(cut.length).toBeLessThanOrEqual(length);
    expect(cut.isWellFormed()).toBe(true);
  }
  expect(cutMiddle(text, text.length)).toBe(text);
  expect(cutMiddle(text, 200)).toMatch(/^a😀b.*cut here.*b$/su);
});

it('keeps text within a length that it has inside a tag', () => {
  expect(cutTagged('<'.repeat(1_000), 200).length).toBeLessThanOrEqual(50);
  expect(cutTagged('plain', 5)).toBe('plain');
  expect(cutTagged('<<<<', 0)).toBe('');
});

it.each([
  [[10, 20, 30], 60, Number.POSITIVE_INFINITY],
  [[10, 20, 30], 50, 20],
  [[10, 500, 30], 100, 60],
  [[10, 10], 5, 2],
  [[10, 10], -5, 0],
  [[], 0, Number.POSITIVE_INFINITY],
])('levels texts of %j within %d at %d', (lengths, maxChars, level) => {
  expect(levelFor(lengths, maxChars)).toBe(level);
});

it('takes the newest texts that fit', () => {
  expect(newestWithin(['aaaa', 'bb', 'c'], 6, 1)).toEqual(['bb', 'c']);
  expect(newestWithin(['a', 'bbbbbb', 'c'], 6, 1)).toEqual(['c']);
  expect(newestWithin(['a'], 0, 1)).toEqual([]);
});

it('finds the first line that says something', () => {
  expect(firstLine('\n\n  One.  \nTwo.', 80)).toBe('One.');
  expect(firstLine('x'.repeat(20), 10)).toBe('xxxxxxx...');
  expect(firstLine(' \n', 10)).toBe('');
});
