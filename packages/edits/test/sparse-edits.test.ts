import { expect, it } from 'vitest';
import { measure } from './measure.ts';
import { JAVA } from './sparse-files.ts';

it('merges no sparse edit wrongly, and refuses few', () => {
  const { made, wrong, refused } = measure({ seed: 1, count: 400 });
  expect(wrong).toEqual([]);
  expect(refused).toBeLessThan(made / 10);
});

it('does so in a language that the merge was not tuned for', () => {
  const { made, wrong, refused } = measure({ seed: 1, count: 200, languages: [JAVA] });
  expect(wrong).toEqual([]);
  expect(refused).toBeLessThan(made / 10);
});
