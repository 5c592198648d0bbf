import { expect, it } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { chainsOf, type Span } from '../chains.ts';

it('finds the best chain through every span, as trying everything does', () => {
  const random = new Random(11);
  for (let round = 0; round < 300; round++) {
    const blocks = Array.from({ length: 1 + random.below(3) }, () =>
      Array.from({ length: 1 + random.below(5) }, () => {
        const from = random.below(8);
        return { from, to: from + 1 + random.below(3), score: random.below(20) };
      }),
    );
    const all = everyChain(blocks);
    const found = chainsOf(blocks);
    const spans = blocks.flat();
    const best = spans
      .map((span) => Math.max(...all.filter((chain) => chain.includes(span)).map(scoreOf)))
      .filter(Number.isFinite);
    expect(found.map(({ score }) => score)).toEqual(best.sort((a, b) => b - a));
    expect(found.map((chain) => scoreOf(chain.spans()))).toEqual(found.map(({ score }) => score));
  }
});

function scoreOf(chain: readonly Span[]): number {
  return chain.reduce((sum, { score }) => sum + score, 0);
}

function everyChain(blocks: readonly (readonly Span[])[], from = 0): Span[][] {
  const [first, ...rest] = blocks;
  if (first === undefined) return [[]];
  return first
    .filter((span) => span.from >= from)
    .flatMap((span) => everyChain(rest, span.to).map((chain) => [span, ...chain]));
}
