/** Chooses one span for each block, in order, so that together they weigh most: the best choice and its rival. */

/** A place for one block: lines `from` up to but not including `to`. */
export interface Candidate {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/** One span for every block, in order. */
export interface Chain {
  readonly weight: number;
  readonly spans: readonly Pick<Candidate, 'from' | 'to'>[];
}

/**
 * The heaviest chain and the heaviest other one, over `length` lines. Exact: for every line it keeps the two best
 * chains that end by there, and no third can ever come before those two.
 */
export function bestChains(
  length: number,
  blocks: readonly (readonly Candidate[])[],
): { best: Chain | null; rival: Chain | null } {
  let endingBy: Pair[] = Array.from({ length: length + 1 }, () => ({ best: EMPTY, rival: null }));
  for (const candidates of blocks) endingBy = extend(endingBy, candidates);
  const { best, rival } = endingBy[length] ?? NOTHING;
  return { best: best && unroll(best), rival: rival && unroll(rival) };
}

interface Link {
  readonly weight: number;
  readonly span: Candidate | null;
  readonly previous: Link | null;
}

interface Pair {
  readonly best: Link | null;
  readonly rival: Link | null;
}

const EMPTY: Link = { weight: 0, span: null, previous: null };
const NOTHING: Pair = { best: null, rival: null };

function extend(endingBy: readonly Pair[], candidates: readonly Candidate[]): Pair[] {
  const endingAt: Pair[] = endingBy.map(() => NOTHING);
  for (const span of candidates) {
    const { best, rival } = endingBy[span.from] ?? NOTHING;
    for (const previous of [best, rival]) {
      if (previous === null) continue;
      const link = { weight: previous.weight + span.weight, span, previous };
      endingAt[span.to] = withLink(endingAt[span.to] ?? NOTHING, link);
    }
  }
  let before = NOTHING;
  return endingAt.map((pair) => {
    before = withLink(withLink(before, pair.best), pair.rival);
    return before;
  });
}

function withLink(pair: Pair, link: Link | null): Pair {
  if (link === null) return pair;
  if (pair.best === null || link.weight > pair.best.weight) return { best: link, rival: pair.best };
  if (pair.rival === null || link.weight > pair.rival.weight)
    return { best: pair.best, rival: link };
  return pair;
}

function unroll(last: Link): Chain {
  const spans: Candidate[] = [];
  for (let link: Link | null = last; link?.span != null; link = link.previous)
    spans.unshift(link.span);
  return { weight: last.weight, spans };
}
