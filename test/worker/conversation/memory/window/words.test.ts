import { expect, it } from 'vitest';
import { boundWords } from '../../../../../worker/conversation/memory/window/words.ts';

it('the words of the user stay as they are while they take no more than a quarter of the room', () => {
  const words = ['a'.repeat(1_000), 'b'.repeat(1_000)];
  expect(boundWords(words, 10_000)).toEqual(words);
});

it('the words of the user are cut in the middle of the oldest long ones first', () => {
  const words = ['short', 'a'.repeat(3_000), 'b'.repeat(2_000), 'c'.repeat(500)];
  const [first, second = '', ...rest] = boundWords(words, 16_000);
  expect(first).toBe('short');
  expect(second).toMatch(/^a+\n\[.*\]\na+$/);
  expect(rest).toEqual(words.slice(2));
});

it('the words of the user are left out, the oldest first, where there are too many; that is said once', () => {
  const words = Array.from({ length: 200 }, (_, index) => `Message ${index}`);
  const once = boundWords(words, 4_000);
  const twice = boundWords([...once, ...words.slice(0, 50)], 4_000);
  for (const bounded of [once, twice]) {
    expect(bounded[0]).toBe('[older messages are left out to save room]');
    expect(bounded.filter((word) => word.startsWith('['))).toHaveLength(1);
  }
  expect(once.at(-1)).toBe('Message 199');
  expect(twice.at(-1)).toBe('Message 49');
});

it('the words of the user may take half of the room where the newest of them need it', () => {
  const newest = 'n'.repeat(4_900);
  expect(boundWords(['a'.repeat(9_000), newest], 10_000).at(-1)).toBe(newest);
  expect(boundWords(['n'.repeat(6_000)], 10_000).join('').length).toBeLessThanOrEqual(5_000);
});

it('the words of the user never take more than what a row can hold', () => {
  for (const word of ['\u0001'.repeat(500_000), '語'.repeat(500_000), 'a'.repeat(500_000)]) {
    const bounded = boundWords([word, word, word], 10_000_000);
    const bytes = new TextEncoder().encode(JSON.stringify(bounded)).byteLength;
    expect(bytes).toBeLessThanOrEqual(600_000);
    expect(bytes).toBeGreaterThan(200_000);
  }
  expect(boundWords(['a'.repeat(500_000)], 2_000_000).at(-1)?.length).toBe(500_000);
});
