/** Chooses one place for each block, in the order of the file. */

/** A place for one block: lines `from` up to but not including `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly score: number;
}

/** One span for every block. */
export interface Chain<Each extends Span> {
  readonly score: number;
  /** The span that the chain was made for, and the number of its block. */
  readonly index: number;
  readonly span: Each;
  readonly spans: () => readonly Each[];
}

/**
 * For every span the best chain that holds it, from the best chain on. So another choice for any block is among them.
 * The cost grows with the spans, not with the file.
 */
export function chainsOf<Each extends Span>(blocks: readonly (readonly Each[])[]): Chain<Each>[] {
  const before: ChainLink<Each>[][] = [];
  for (const spans of blocks) before.push(extend(before.at(-1), spans, 'to'));
  const after: ChainLink<Each>[][] = [];
  for (const spans of blocks.toReversed()) after.unshift(extend(after[0], spans, 'from'));
  const chains: Chain<Each>[] = [];
  blocks.forEach((spans, index) => {
    for (const span of spans) {
      const left = index === 0 ? NONE : bestBefore(before[index - 1] ?? [], span.from);
      const right = index === blocks.length - 1 ? NONE : bestAfter(after[index + 1] ?? [], span.to);
      if (left === undefined || right === undefined) continue;
      chains.push({
        score: left.score + span.score + right.score,
        index,
        span,
        spans: () => [...unroll<Each>(left).reverse(), span, ...unroll<Each>(right)],
      });
    }
  });
  return chains.sort((a, b) => b.score - a.score);
}

/** The best chain on one side that ends with `span`, or before it. `at` is its edge. */
interface ChainLink<Each> {
  readonly at: number;
  readonly score: number;
  readonly span: Each | null;
  readonly next: ChainLink<Each> | null;
}

const NONE: ChainLink<never> = { at: 0, score: 0, span: null, next: null };

/** The links sorted by edge, each at least as good as those before it. */
function extend<Each extends Span>(
  beyond: readonly ChainLink<Each>[] | undefined,
  spans: readonly Each[],
  edge: 'from' | 'to',
): ChainLink<Each>[] {
  const links: ChainLink<Each>[] = [];
  for (const span of spans) {
    const next: ChainLink<Each> | undefined =
      beyond === undefined
        ? NONE
        : edge === 'to'
          ? bestBefore(beyond, span.from)
          : bestAfter(beyond, span.to);
    if (next === undefined) continue;
    links.push({ at: span[edge], score: span.score + next.score, span, next });
  }
  links.sort((a, b) => (edge === 'to' ? a.at - b.at : b.at - a.at));
  let best: ChainLink<Each> | undefined;
  return links.map((link) => {
    if (best === undefined || link.score > best.score) best = link;
    return { ...best, at: link.at };
  });
}

function bestBefore<Each>(
  links: readonly ChainLink<Each>[],
  line: number,
): ChainLink<Each> | undefined {
  return lastOf(links, ({ at }) => at <= line);
}

function bestAfter<Each>(
  links: readonly ChainLink<Each>[],
  line: number,
): ChainLink<Each> | undefined {
  return lastOf(links, ({ at }) => at >= line);
}

/** The last link of those that fit; they are at the beginning. */
function lastOf<Item>(links: readonly Item[], isFit: (link: Item) => boolean): Item | undefined {
  let [low, high] = [0, links.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isFit(links[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return links[low - 1];
}

function unroll<Each>(last: ChainLink<Each>): Each[] {
  const spans: Each[] = [];
  for (let link: ChainLink<Each> | null = last; link?.span != null; link = link.next)
    spans.push(link.span);
  return spans;
}
