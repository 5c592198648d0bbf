import { expect, it } from 'vitest';
import { bestChains, type Candidate } from '../../../bridge/edits/chains.ts';

it('finds the same best and second best as trying everything', () => {
  let state = 11;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  for (let round = 0; round < 300; round++) {
    const blocks = Array.from({ length: 1 + random(3) }, () =>
      Array.from({ length: 1 + random(5) }, () => {
        const from = random(8);
        return { from, to: from + 1 + random(3), weight: random(20) };
      }),
    );
    const [best, rival] = everyChain(blocks).sort((a, b) => b - a);
    const found = bestChains(blocks);
    expect([found.best?.weight, found.rival?.weight]).toEqual([best, rival]);
  }
});

function everyChain(blocks: readonly (readonly Candidate[])[], from = 0): number[] {
  const [first, ...rest] = blocks;
  if (first === undefined) return [0];
  return first
    .filter((span) => span.from >= from)
    .flatMap((span) => everyChain(rest, span.to).map((weight) => weight + span.weight));
}
