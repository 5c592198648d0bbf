/** Judges a reading of an edit (a place for each block): the evidence against it, and the verdict that follows. */
import { type BlockPlace, countOf, type Gap, type Ground } from './anchors.ts';
import type { EditBlock, PlacedBlock } from './blocks.ts';
import {
  countDeleted,
  findAtIdleMarker,
  type HeldBlock,
  isLooselyHeld,
  mayAddInstead,
} from './deletions.ts';
import { findTorn, isTight, losesUnit } from './doubts.ts';
import { type DecidedEdges, decideEdges } from './edges.ts';
import { indentOf, isCloser, isInformative, isLeaving, owns } from './likeness.ts';
import { EDIT_LIMITS } from './limits.ts';
import { type EditRefusal, refuse } from './refusal.ts';

type ReadingVerdict =
  /** The edit can mean this reading. */
  | { readonly type: 'stands'; readonly placed: readonly PlacedBlock[] }
  /** The edit cannot mean it, because of the block with this index: another reading may be the meant one. */
  | { readonly type: 'impossible'; readonly index: number; readonly refusal: EditRefusal }
  /** The edit may mean it or something else, and is refused. A `loose` reading is no rival of a better one. */
  | { readonly type: 'doubt' | 'loose'; readonly refusal: EditRefusal };

/** The evidence against a block at its place. The first row that holds decides on the whole reading. */
const AGAINST_A_BLOCK: readonly {
  readonly holds: (here: BlockReading) => boolean;
  readonly verdict: Exclude<ReadingVerdict['type'], 'stands'>;
  readonly refusal: (here: PlacedBlock, ground: Ground) => EditRefusal;
}[] = [
  { holds: repeatsUnit, verdict: 'impossible', refusal: unclearEdge },
  { holds: movesTail, verdict: 'impossible', refusal: unclearEdge },
  { holds: forgetsMarker, verdict: 'doubt', refusal: cutsEdge },
  { holds: hasEdges('cut'), verdict: 'doubt', refusal: cutsEdge },
  { holds: mayRenameLastUnit, verdict: 'doubt', refusal: unclearEdge },
  { holds: hasEdges('impossible'), verdict: 'impossible', refusal: unclearEdge },
  { holds: hasEdges('doubt'), verdict: 'doubt', refusal: unclearEdge },
  { holds: isLooselyHeld, verdict: 'loose', refusal: unclearEdge },
  { holds: mayAddInstead, verdict: 'doubt', refusal: unclearEdge },
];

/** The evidence against the best reading as a whole. The first block at fault that is found refuses the edit. */
const AGAINST_THE_WHOLE: readonly {
  readonly find: (ground: Ground, placed: readonly PlacedBlock[]) => PlacedBlock | undefined;
  readonly refusal: (
    fault: PlacedBlock,
    ground: Ground,
    placed: readonly PlacedBlock[],
  ) => EditRefusal;
}[] = [
  { find: findLargeDeletion, refusal: deletesTooMuch },
  { find: findAtIdleMarker, refusal: deletesAtIdleMarker },
  { find: findTorn, refusal: tearsUnit },
  { find: findMisplaced, refusal: unclearEdge },
];

/** Judges the blocks downwards, each between what the one before replaces and the place of the next. */
export function judgeReading(
  ground: Ground,
  blocks: readonly EditBlock[],
  places: readonly BlockPlace[],
): ReadingVerdict {
  const placed: PlacedBlock[] = [];
  for (const [index, place] of places.entries()) {
    const block = blocks[index] as EditBlock;
    const room = {
      from: placed.at(-1)?.to ?? 0,
      to: places[index + 1]?.from ?? ground.lines.length,
    };
    const here = readBlock(ground, block, place, room);
    for (const { holds, verdict, refusal } of AGAINST_A_BLOCK)
      if (holds(here)) return { type: verdict, index, refusal: refusal(here, ground) };
    const { above, below } = here.decided();
    const [from, to] = [here.from - above, here.to + below];
    placed.push({ block: from === to ? withBlanks(block) : block, from, to });
  }
  return { type: 'stands', placed };
}

/** Why the best reading is refused; null if nothing speaks against it. */
export function judgeWhole(ground: Ground, placed: readonly PlacedBlock[]): EditRefusal | null {
  for (const { find, refusal } of AGAINST_THE_WHOLE) {
    const fault = find(ground, placed);
    if (fault !== undefined) return refusal(fault, ground, placed);
  }
  return null;
}

/** A block at its place. */
interface BlockReading extends HeldBlock {
  readonly gaps: readonly Gap[];
  /** The new lines above and below the unchanged ones. */
  readonly edges: readonly string[];
  /** What they replace. Decided when first asked for: many places are out without it. */
  readonly decided: () => DecidedEdges;
}

function readBlock(
  ground: Ground,
  block: EditBlock,
  place: BlockPlace,
  room: { readonly from: number; readonly to: number },
): BlockReading {
  const { from, to, first, last, gaps } = place;
  let decided: DecidedEdges | undefined;
  return {
    ground,
    block,
    from,
    to,
    gaps,
    shown: block.texts.slice(first, last),
    there: ground.lines.slice(from, to),
    edges: [...block.texts.slice(0, first), ...block.texts.slice(last)],
    decided: () => {
      decided ??= decideEdges(ground, block, place, room);
      return decided;
    },
  };
}

/** At the edge of the file the blank lines beside the marker belong to what is added. */
function withBlanks(block: EditBlock): EditBlock {
  const [above, below] = [block.blanks.above, block.blanks.below].map((count) =>
    Array.from({ length: count }, () => ''),
  ) as [string[], string[]];
  return {
    ...block,
    lines: [...above, ...block.lines, ...below],
    texts: [...above, ...block.texts, ...below],
  };
}

/** Whether a new line at an end is equal to one that begins a unit of the file. */
function repeatsUnit({ ground, edges }: BlockReading): boolean {
  return edges.some((line) => ground.units.has(line));
}

/** Whether the line after a gap comes to belong to a new line, or to none: then a unit takes the tail of another. */
function movesTail({ ground, block, gaps }: BlockReading): boolean {
  return gaps.some(({ first, last, from, to }) => {
    const below = block.texts[last] as string;
    const hasOwner = (above: readonly string[]) => above.some((line) => owns(line, below));
    return hasOwner(block.texts.slice(first, last)) !== hasOwner(ground.lines.slice(from, to));
  });
}

/** Whether new text for the edge of the file has lines of the file that are as shallow as any. */
function forgetsMarker({ ground, block, shown }: BlockReading): boolean {
  if (shown.length > 0) return false;
  const lines = block.texts.filter((line) => line !== '');
  const top = lines[0] ?? '';
  const depth = lines.reduce((least, line) => Math.min(least, indentOf(line)), Infinity);
  // A file does not begin inside a unit.
  if (!block.endsFile && (indentOf(top) > depth || isCloser(top))) return true;
  const edge = ground.lines.at(block.endsFile ? -1 : 0) ?? '';
  return (
    depth > indentOf(edge) ||
    lines.some(
      (line) => isInformative(line) && indentOf(line) === depth && countOf(ground, line) > 0,
    )
  );
}

/** Whether so much of the block agrees that the end of the file may be the same unit under another name. */
function mayRenameLastUnit({ block, shown, edges, decided }: BlockReading): boolean {
  if (decided().unclear !== 'impossible' || !block.endsFile || !edges.some(isInformative))
    return false;
  const agreed = shown.filter((line) => isInformative(line) && !isLeaving(line)).length;
  return agreed * 3 >= block.texts.filter(isInformative).length;
}

/** Whether it is unclear, for this reason, what the new lines at an end replace. */
function hasEdges(unclear: DecidedEdges['unclear']): (here: BlockReading) => boolean {
  return ({ decided }) => decided().unclear === unclear;
}

function findLargeDeletion(
  ground: Ground,
  placed: readonly PlacedBlock[],
): PlacedBlock | undefined {
  return sumDeleted(ground, placed) > EDIT_LIMITS.maxDeletedLines ? placed[0] : undefined;
}

function sumDeleted(ground: Ground, placed: readonly PlacedBlock[]): number {
  return placed.reduce((sum, place) => sum + countDeleted(ground, place), 0);
}

/** The first block whose edges stand in the file beside its place, or that replaces a unit by lines of another. */
function findMisplaced(ground: Ground, placed: readonly PlacedBlock[]): PlacedBlock | undefined {
  return placed.find((place) => !isTight(ground, place) || losesUnit(ground, place));
}

function deletesTooMuch(
  _: PlacedBlock,
  ground: Ground,
  placed: readonly PlacedBlock[],
): EditRefusal {
  return refuse(
    'TOO_MUCH_DELETED',
    `The edit would delete ${sumDeleted(ground, placed)} lines without naming them, more than ${EDIT_LIMITS.maxDeletedLines}: add markers ` +
      'where code stays, or give the whole file with write.',
  );
}

function deletesAtIdleMarker({ block }: PlacedBlock): EditRefusal {
  return refuse(
    'TOO_MUCH_DELETED',
    `The block at line ${block.number} of the edit would delete lines, and a marker beside it would stand for no line: ` +
      'give more unchanged lines beside that marker, or delete with str_replace.',
  );
}

function tearsUnit({ block }: PlacedBlock): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit would put lines that stay into another function or section: give the ` +
      'unchanged lines around the change, with the head and the end of what they stand in, or use str_replace.',
  );
}

function cutsEdge({ block }: PlacedBlock): EditRefusal {
  return refuse(
    'TOO_MUCH_DELETED',
    `The block at line ${block.number} of the edit has no marker at the edge of the file, so the lines there would be ` +
      'deleted: add the marker if they stay, or delete them with str_replace.',
  );
}

function unclearEdge({ block, from, to }: PlacedBlock, { lines: file }: Ground): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit has new lines beside a marker, and it is unclear whether they replace ` +
      `lines there (near lines ${from + 1}-${Math.min(file.length, to + 1)}) or are added: add an unchanged line between them and the marker, or use str_replace.`,
  );
}
