import { expect, it } from 'vitest';
import { keptOf } from '../../web/store/kept-exchanges.ts';

it.each([
  ['forty of 30,000 characters', Array(40).fill(30_000), 13],
  ['forty short ones', Array(40).fill(1_000), 40],
  ['eight huge ones', Array(8).fill(1_000_000), 5],
  ['none', [], 0],
])('of %s', (_, lengths: readonly number[], kept) => {
  const responses = lengths.map((length, at) => {
    const half = 'x'.repeat(length / 2);
    const document = { id: `doc_${at}`, sequence: 1, content: half, metadata: { output: half } };
    return { documents: [{ ...document, type: 'text' as const }] };
  });
  expect(keptOf(responses)).toBe(kept);
});
