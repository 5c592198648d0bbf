/** Finds the places of an edit's blocks. Only the two ends of a block are compared, because its middle is new text. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { bestChains, type Candidate, type Chain } from './chains.ts';
import { INFORMATIVE_WEIGHT, weighLine } from './lines.ts';
import { type EditRefusal, formatLineList, refuse } from './refusal.ts';

/** A piece of an edit between two markers, or between a marker and the edge of the file. */
export interface Block {
  readonly lines: readonly string[];
  /** The number of its first line in the edit, counted from 1. */
  readonly number: number;
  readonly startsFile: boolean;
  readonly endsFile: boolean;
}

/** A block and the lines of the file that it replaces, from index `from` up to but not including `to`. */
export interface PlacedBlock {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
}

export type Placed = { readonly ok: true; readonly blocks: readonly PlacedBlock[] } | EditRefusal;

/**
 * Places all blocks, in order and without overlap, where their ends match the most context; else says why it cannot.
 */
export function placeBlocks(file: readonly string[], blocks: readonly Block[]): Placed {
  const index = indexEdges(file, blocks);
  const ends: BlockEnds[] = [];
  for (const block of blocks) {
    const found = findEnds(index, block);
    if (found === null) return fitsEverywhere(block);
    const missing = found.starts.length === 0 ? 'begin' : found.stops.length === 0 ? 'end' : null;
    if (missing !== null) return noAnchor(block, missing);
    ends.push(found);
  }
  const candidates: Candidate[][] = [];
  const spansLeft = { count: TOOL_LIMITS.maxSpans };
  for (const found of ends) {
    const spans = candidatesOf(found, spansLeft);
    if (spans === null) return fitsEverywhere(found.block);
    candidates.push(spans);
  }
  const tooWide = ends.find((_, index) => candidates[index]?.length === 0);
  if (tooWide !== undefined) return noSpan(tooWide.block);
  const { best, rival } = bestChains(candidates);
  if (best === null) {
    return refuse(
      'NO_ANCHOR',
      'Each block of the edit fits the file, but not all of them in this order: give the blocks in the order of the file.',
    );
  }
  const placed = best.spans.map((span, index) => ({ ...span, block: blocks[index] as Block }));
  const doubt = findRival(best, rival, blocks) ?? findIdleBlock(file, placed, ends);
  return doubt ?? { ok: true, blocks: placed };
}

/** The places where a block may begin and may end. The weight tells how many of the lines there agree. */
interface BlockEnds {
  readonly block: Block;
  readonly starts: readonly End[];
  readonly stops: readonly End[];
}

interface End {
  /** The index of the block's first or last line. */
  readonly at: number;
  readonly weight: number;
}

/**
 * The lines of a file without trailing space, and the places of those lines that equal a block's first or last line.
 */
interface EdgeIndex {
  readonly lines: readonly string[];
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** Equal lines that may still be compared, for all blocks together. */
  left: number;
}

function indexEdges(file: readonly string[], blocks: readonly Block[]): EdgeIndex {
  const lines = file.map((line) => line.trimEnd());
  const edges = blocks.flatMap((block) => [block.lines[0] ?? '', block.lines.at(-1) ?? '']);
  const places = new Map<string, number[]>(edges.map((edge) => [edge.trimEnd(), []]));
  lines.forEach((line, at) => {
    places.get(line)?.push(at);
  });
  return { lines, places, left: TOOL_LIMITS.maxEqualLines };
}

/** Null for a block that fits nearly everywhere: comparing all places would take minutes and all memory. */
function findEnds(index: EdgeIndex, block: Block): BlockEnds | null {
  const lines = block.lines.map((line) => line.trimEnd());
  const starts = block.startsFile ? [{ at: 0, weight: 0 }] : weighEnds(index, lines, 1);
  const last = index.lines.length - 1;
  const stops = block.endsFile ? [{ at: last, weight: 0 }] : weighEnds(index, lines, -1);
  if (starts === null || stops === null) return null;
  return { block, starts, stops };
}

/** Every line equal to the block's first (`step` 1) or last (-1), weighed by the run of equal lines from there on. */
function weighEnds(index: EdgeIndex, lines: readonly string[], step: 1 | -1): End[] | null {
  const edge = step === 1 ? 0 : lines.length - 1;
  const ends: End[] = [];
  for (const at of index.places.get(lines[edge] ?? '') ?? []) {
    let weight = 0;
    for (let run = 0; run < lines.length; run++) {
      const line = lines[edge + run * step];
      if (line === undefined || index.lines[at + run * step] !== line) break;
      weight += weighLine(line);
      index.left--;
    }
    if (index.left < 0) return null;
    if (weight > 0) ends.push({ at, weight });
  }
  return ends;
}

/**
 * Every pair of ends in the order of the file, as a span; null for too many. Leaves out spans much longer than the
 * block: they would delete lines that the edit does not name.
 */
function candidatesOf(
  { block, starts, stops }: BlockEnds,
  spansLeft: { count: number },
): Candidate[] | null {
  const longest = TOOL_LIMITS.maxDeletedLines + block.lines.length * 3;
  const candidates: Candidate[] = [];
  let first = 0;
  for (const start of starts) {
    while ((stops[first]?.at ?? start.at) < start.at) first++;
    for (let index = first; index < stops.length; index++) {
      const stop = stops[index] as End;
      const length = stop.at - start.at + 1;
      if (length > longest) break;
      if (spansLeft.count-- === 0) return null;
      candidates.push(candidateOf(start, stop, block));
    }
  }
  return candidates;
}

function candidateOf(start: End, stop: End, block: Block): Candidate {
  const surplus = Math.max(0, stop.at - start.at + 1 - block.lines.length);
  const penalty = Math.min(MAX_SURPLUS_PENALTY, surplus * SURPLUS_PENALTY);
  return { from: start.at, to: stop.at + 1, weight: start.weight + stop.weight - penalty };
}

/** With equal context the shorter span wins. The penalty stays smaller than an informative line. */
const SURPLUS_PENALTY = 0.02;
const MAX_SURPLUS_PENALTY = 6;

function noAnchor(block: Block, edge: 'begin' | 'end'): EditRefusal {
  const line = (edge === 'begin' ? block.lines[0] : block.lines.at(-1)) ?? '';
  const side = edge === 'begin' ? 'after' : 'before';
  return refuse(
    'NO_ANCHOR',
    `The block at line ${block.number} of the edit must ${edge} with an unchanged line of the file, but ` +
      `\`${line.trim().slice(0, TOOL_LIMITS.maxHintLineChars)}\` with this indentation is not in it: give three to five ` +
      `unchanged lines ${side} the marker, as they stand in the file, or use str_replace.`,
  );
}

function noSpan(block: Block): EditRefusal {
  return refuse(
    'TOO_MUCH_DELETED',
    `The block at line ${block.number} of the edit would replace far more lines than it has, or its end stands before its ` +
      'beginning: stand a marker wherever code stays, also at the start and at the end of the edit.',
  );
}

function fitsEverywhere(block: Block): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit, or those before it, fits the file at too many places to compare them: ` +
      'give lines around the change that stand there once, make several edits of it, or use str_replace.',
  );
}

/** The rival must weigh less by at least one informative line. */
function findRival(best: Chain, rival: Chain | null, blocks: readonly Block[]): EditRefusal | null {
  if (rival === null || best.weight - rival.weight >= INFORMATIVE_WEIGHT) return null;
  const index = best.spans.findIndex((span, at) => !isSameSpan(span, rival.spans[at]));
  const [first, second] = [best.spans[index], rival.spans[index]];
  return refuse(
    'AMBIGUOUS',
    `The block at line ${blocks[index]?.number} of the edit fits lines ${formatSpan(first)} as well as lines ` +
      `${formatSpan(second)}: give more unchanged lines around the change, or use str_replace.`,
  );
}

function isSameSpan(a: Span, b: Span | undefined): boolean {
  return a.from === b?.from && a.to === b.to;
}

type Span = Pick<Candidate, 'from' | 'to'>;

function formatSpan(span: Span | undefined): string {
  return span === undefined ? '' : `${span.from + 1}-${span.to}`;
}

/** A block that changes nothing at its best place and also fits elsewhere was most likely meant elsewhere. */
function findIdleBlock(
  file: readonly string[],
  placed: readonly PlacedBlock[],
  ends: readonly BlockEnds[],
): EditRefusal | null {
  for (const [index, { block, from, to }] of placed.entries()) {
    const isIdle =
      to - from === block.lines.length && block.lines.every((line, at) => file[from + at] === line);
    if (!isIdle) continue;
    const { starts, stops } = ends[index] as BlockEnds;
    const elsewhere = [
      ...starts.filter((end) => end.at !== from && end.weight >= INFORMATIVE_WEIGHT),
      ...stops.filter((end) => end.at !== to - 1 && end.weight >= INFORMATIVE_WEIGHT),
    ];
    if (elsewhere.length === 0) continue;
    return refuse(
      'AMBIGUOUS',
      `The block at line ${block.number} of the edit would change nothing at lines ${from + 1}-${to}, and it also fits ` +
        `at lines ${formatLineList(elsewhere.map((end) => end.at + 1))}: give more unchanged lines around the change.`,
    );
  }
  return null;
}
