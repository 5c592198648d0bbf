/** Chooses one span for each block, in order, with the greatest total weight. Finds the best choice and its rival. */

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
 * The heaviest chain and the second heaviest. Exact: for every line where a chain ends it keeps the two best chains
 * that end by there, and a third chain can never overtake these two. The cost grows with the candidates, not with the
 * file.
 */
export function bestChains(blocks: readonly (readonly Candidate[])[]): {
  best: Chain | null;
  rival: Chain | null;
} {
  let steps: readonly Step[] = [{ to: 0, pair: { best: EMPTY, rival: null } }];
  for (const candidates of blocks) steps = extend(steps, candidates);
  const { best, rival } = steps.at(-1)?.pair ?? NOTHING;
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

/** The best chains that end at or before a line. */
interface Step {
  readonly to: number;
  readonly pair: Pair;
}

const EMPTY: Link = { weight: 0, span: null, previous: null };
const NOTHING: Pair = { best: null, rival: null };

/** Steps are sorted by line. */
function extend(before: readonly Step[], candidates: readonly Candidate[]): Step[] {
  const links: { to: number; link: Link }[] = [];
  for (const span of candidates) {
    const { best, rival } = pairBy(before, span.from);
    for (const previous of [best, rival]) {
      if (previous === null) continue;
      const link = { weight: previous.weight + span.weight, span, previous };
      links.push({ to: span.to, link });
    }
  }
  const steps: Step[] = [];
  let pair = NOTHING;
  for (const { to, link } of links.sort((a, b) => a.to - b.to)) {
    pair = withLink(pair, link);
    if (steps.at(-1)?.to === to) steps.pop();
    steps.push({ to, pair });
  }
  return steps;
}

/** The pair of the last step at or before this line. */
function pairBy(steps: readonly Step[], line: number): Pair {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.to ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return steps[low - 1]?.pair ?? NOTHING;
}

function withLink(pair: Pair, link: Link): Pair {
  if (pair.best === null || link.weight > pair.best.weight) return { best: link, rival: pair.best };
  if (pair.rival === null || link.weight > pair.rival.weight)
    return { best: pair.best, rival: link };
  return pair;
}

function unroll(last: Link): Chain {
  const spans: Candidate[] = [];
  for (let link: Link | null = last; link?.span != null; link = link.previous)
    spans.push(link.span);
  return { weight: last.weight, spans: spans.reverse() };
}
