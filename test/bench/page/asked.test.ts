import { expect, it } from 'vitest';
import { askedIn, endOf, messageOf } from '../../../bench/page/asked.ts';
import { markdownOf } from '../../../bench/page/markdown.ts';

it('reads the newest of the messages that a request has', () => {
  const [old, asked] = [1, 2].map((id) => ({ id, chars: 30_720, tokensPerSecond: 100 }));
  if (!old || !asked) throw new Error('there are two');
  expect(askedIn(JSON.stringify([messageOf(old), messageOf(asked)]))).toEqual(asked);
  expect(askedIn('Give it a title.')).toBeUndefined();
});

it('answers with as much as is asked, up to a section more, and ends with the line that shows its end', () => {
  const text = markdownOf(30_720, endOf({ id: 7 }));
  expect(text.length).toBeGreaterThan(30_720);
  expect(text.length).toBeLessThan(33_000);
  expect(text.endsWith('\n\nThis was answer 7.')).toBe(true);
});
