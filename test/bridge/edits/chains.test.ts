import { expect, it } from 'vitest';
import { chainsOf, type Span } from '../../../bridge/edits/chains.ts';

it('finds the best chain through every span, as trying everything does', () => {
  let state = 11;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  for (let round = 0; round < 300; round++) {
    const blocks = Array.from({ length: 1 + random(3) }, () =>
      Array.from({ length: 1 + random(5) }, () => {
        const from = random(8);
        return { from, to: from + 1 + random(3), score: random(20) };
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
