/** Merges an edit that leaves out unchanged parts. */
import {
  type BlockPlace,
  countOf,
  findPlaces,
  type Gap,
  type Ground,
  toGround,
} from './anchors.ts';
import { type EditBlock, type PlacedBlock, parseBlocks } from './blocks.ts';
import { type Chain, chainsOf } from './chains.ts';
import { findTorn, isTight, losesUnit } from './doubts.ts';
import { decideEdge } from './edges.ts';
import { balanceOf, indentOf, isCloser, isInformative, isLeaving, owns } from './likeness.ts';
import { EDIT_LIMITS } from './limits.ts';
import { eachLineText, splitLines, withEol } from './lines.ts';
import { isMarker } from './markers.ts';
import { type EditRefusal, refuse } from './refusal.ts';
import { applySplices, spliceLines } from './splice.ts';

export type Merged = { readonly ok: true; readonly text: string } | EditRefusal;

/** Whether the edit leaves out parts. If not, it is a whole file. */
export function hasMarkers(edit: string): boolean {
  for (const line of eachLineText(edit)) if (isMarker(line)) return true;
  return false;
}

/**
 * Merges an edit with markers into a text without BOM. Each block stands where its unchanged lines stand, and replaces
 * what lies between the first and the last of them. New lines beyond them are added there, unless they are a new
 * version of the lines beside them. Lines outside the blocks stay in the units that they belong to. Where a marker is
 * missing at the start (end) of the edit, the block reaches to that edge of the file. Refuses what can be read in two
 * ways. Text outside the changed lines keeps its bytes.
 */
export function mergeEdit(text: string, edit: string): Merged {
  const blocks = parseBlocks(withEol(edit, '\n'));
  if (blocks.length === 0) return noChange();
  const lines = splitLines(text);
  const file = lines.map((line) => line.text);
  const trimmed = file.map((line) => line.trimEnd());
  const end = trimmed.findLastIndex((line) => line !== '') + 1;
  const start = Math.max(
    0,
    Math.min(
      end,
      trimmed.findIndex((line) => line !== ''),
    ),
  );
  const asked = blocks.flatMap((block) => block.lines.map((line) => line.trimEnd()));
  const ground = toGround(trimmed.slice(start, end), asked);
  const placed = placeBlocks(ground, blocks);
  if (!Array.isArray(placed)) return placed as EditRefusal;
  const refusal = findDeletion(ground.lines, placed);
  if (refusal !== null) return refusal;
  const torn = findTorn(ground.lines, placed);
  if (torn !== null) return tearsUnit(torn);
  const loose = placed.find((place) => !isTight(ground, place) || losesUnit(ground, place));
  if (loose !== undefined) return unclearEdge(loose.block, ground.lines, loose.from, loose.to);
  const splices = placed.map(({ block, from, to }) => {
    // An insertion takes the line beside it along, whose line end the new lines get.
    const [above, below] = from < to ? [0, 0] : from > 0 ? [1, 0] : [0, 1];
    const [first, last] = [start + from, start + to];
    const beside = {
      above: file.slice(first - above, first),
      below: file.slice(last, last + below),
    };
    const asked = file.slice(first - above, last + below);
    const replacement = [...beside.above, ...block.lines, ...beside.below];
    return spliceLines(text, lines, { from: first - above, asked, openEnd: false }, replacement);
  });
  const merged = applySplices(text, splices);
  if (merged !== text) return { ok: true, text: merged };
  return noChange();
}

/** Where the blocks stand. Refuses when another choice fits nearly as well and leads to another text. */
function placeBlocks(ground: Ground, blocks: readonly EditBlock[]): PlacedBlock[] | EditRefusal {
  const isBalanced = balanceOf(ground.lines) === 0;
  const candidates: BlockPlace[][] = [];
  for (const block of blocks) {
    const places = placesOf(ground, block);
    if (places === null) return fitsEverywhere(block);
    if (places.length === 0) return noAnchor(ground, block);
    candidates.push(places);
  }
  let best: { placed: PlacedBlock[]; places: readonly BlockPlace[]; score: number } | undefined;
  let impossible: EditRefusal | undefined;
  const seen = new Set<string>();
  let chains = chainsOf(candidates);
  for (let next = 0; next < chains.length; next++) {
    const { score, index, span, spans } = chains[next] as Chain<BlockPlace>;
    // The best chain itself, found through one of its places.
    if (best?.places[index] === span) continue;
    if (best !== undefined && score < best.score - Math.max(...MARGINS)) break;
    const places = spans();
    const margin = best === undefined ? 0 : marginOf(ground, best.placed, best.places, places);
    if (best !== undefined && score < best.score - margin) continue;
    const key = places.map(({ from, to, first }) => `${from}-${to}-${first}`).join();
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > EDIT_LIMITS.maxMergeReadings)
      return best === undefined && impossible ? impossible : fitsEverywhere(blocks[0] as EditBlock);
    const settled = settle(ground, blocks, places, isBalanced);
    if (settled.state === 'impossible') {
      impossible ??= settled.refusal;
      const out = places[settled.index];
      candidates[settled.index] = candidates[settled.index]?.filter((place) => place !== out) ?? [];
      chains = chainsOf(candidates);
      next = -1;
    } else if (best === undefined) {
      if (settled.state !== 'settled') return settled.refusal;
      best = { placed: settled.placed, places, score };
    } else if (settled.state !== 'loose') {
      const isSame =
        settled.state === 'settled' && isSameResult(ground.lines, settled.placed, best.placed);
      if (!isSame) return ambiguous(blocks, best.placed, places);
    }
  }
  return best?.placed ?? impossible ?? wrongOrder();
}

/** A choice that weighs less by more than this is no rival. */
const MARGIN = 4;
const LOOSE_MARGIN = 14;
/** The number of lines that are deleted weighs nothing. */
const DELETION_MARGIN = 50;
/** A block that changes nothing at its best place was most likely meant for another one like it. */
const IDLE_MARGIN = 200;
const MARGINS = [MARGIN, LOOSE_MARGIN, DELETION_MARGIN, IDLE_MARGIN];

/** The margin of the best choice against one that differs from it in some blocks. */
function marginOf(
  ground: Ground,
  placed: readonly PlacedBlock[],
  places: readonly BlockPlace[],
  rivals: readonly BlockPlace[],
): number {
  const margins = places.map((place, index) => {
    if (place.from === rivals[index]?.from && place.to === rivals[index]?.to) return 0;
    const here = placed[index] as PlacedBlock;
    if (onlyDeletes(ground, here)) return DELETION_MARGIN;
    if (isIdle(ground, here)) return IDLE_MARGIN;
    return place.isLoose ? LOOSE_MARGIN : MARGIN;
  });
  return Math.max(...margins);
}

/** Whether the block changes nothing, and has no line that stands in the file once. */
function isIdle(ground: Ground, { block, from, to }: PlacedBlock): boolean {
  return (
    to - from === block.lines.length &&
    block.lines.every((line, at) => line.trimEnd() === ground.lines[from + at]) &&
    !ground.lines.slice(from, to).some((line) => isInformative(line) && countOf(ground, line) === 1)
  );
}

function onlyDeletes(ground: Ground, { block, from, to }: PlacedBlock): boolean {
  const fresh = block.lines.map((line) => line.trimEnd()).filter(isInformative);
  return (
    fresh.every((line) => countOf(ground, line) > 0) &&
    ground.lines.slice(from, to).filter(isInformative).length > fresh.length
  );
}

/** A block without a marker may also stand at the edge of the file with none of its lines. */
function placesOf(ground: Ground, block: EditBlock): BlockPlace[] | null {
  const { startsFile, endsFile } = block;
  const lines = block.lines.map((line) => line.trimEnd());
  const places = findPlaces(ground, { lines, startsFile, endsFile });
  const { length } = ground.lines;
  const edges: BlockPlace[] = [];
  if (startsFile)
    edges.push({ from: 0, to: 0, first: 0, last: 0, score: 0, gaps: [], isLoose: false });
  if (endsFile) {
    const rows = block.lines.length;
    edges.push({
      from: length,
      to: length,
      first: rows,
      last: rows,
      score: 0,
      gaps: [],
      isLoose: false,
    });
  }
  return places && [...places, ...edges];
}

type Settled =
  | { readonly state: 'settled'; readonly placed: PlacedBlock[] }
  | {
      readonly state: 'doubt' | 'loose' | 'impossible';
      /** Of the block at fault. */
      readonly index: number;
      readonly refusal: EditRefusal;
    };

/** Decides at both ends of each block what its new lines there replace. */
function settle(
  ground: Ground,
  blocks: readonly EditBlock[],
  places: readonly BlockPlace[],
  isBalanced: boolean,
): Settled {
  const file = ground.lines;
  const placed: PlacedBlock[] = [];
  for (const [index, { from, to, first, last, gaps }] of places.entries()) {
    const block = blocks[index] as EditBlock;
    const lines = block.lines.map((line) => line.trimEnd());
    const isEmpty = first === last;
    const isBare = !lines.slice(first, last).some(isInformative);
    const above = file.slice(placed.at(-1)?.to ?? 0, from).reverse();
    const below = file.slice(to, places[index + 1]?.from ?? file.length);
    const decide = (fresh: string[], beyond: string[], isBelow: boolean) => {
      const reaches = isBelow ? block.endsFile : block.startsFile;
      if (reaches && !isEmpty) return decideFileEdge(fresh, beyond);
      const anchor = isEmpty ? undefined : isBelow ? file[to - 1] : file[from];
      const near = beyond.slice(0, fresh.length * 2 + FARTHEST);
      const { marker, endsFile } = block;
      return decideEdge({
        fresh,
        beyond: near,
        anchor,
        shown,
        marker,
        isBelow,
        units: ground.units,
        isBare,
        isBalanced,
        endsFile,
      });
    };
    const shown = lines.slice(first, last);
    const edges = [...lines.slice(0, first), ...lines.slice(last)];
    if (
      edges.some((line) => ground.units.has(line)) ||
      !gaps.every((gap) => keepsOwner(gap, lines, file))
    )
      return { state: 'impossible', index, refusal: unclearEdge(block, file, from, to) };
    if (isEmpty && startsWithContext(ground, lines, block))
      return { state: 'doubt', index, refusal: cutsEdge(block) };
    const up = decide(lines.slice(0, first).reverse(), above, false);
    const down = decide(lines.slice(last), below, true);
    for (const decision of [up, down]) {
      if (typeof decision === 'number') continue;
      if (decision === 'cut') return { state: 'doubt', index, refusal: cutsEdge(block) };
      // If much agrees, the end of the file may be the same unit under another name.
      const isRenamed =
        decision === 'impossible' &&
        block.endsFile &&
        edges.some(isInformative) &&
        shown.filter((line) => isInformative(line) && !isLeaving(line)).length * 3 >=
          lines.filter(isInformative).length;
      const state = isRenamed ? 'doubt' : decision;
      return { state, index, refusal: unclearEdge(block, file, from, to) };
    }
    const there = file.slice(from, to);
    const isClosed = block.endsFile || closesGap(there, shown);
    if (isLooselyHeld(there, shown, block.startsFile, isClosed))
      return { state: 'loose', index, refusal: unclearEdge(block, file, from, to) };
    if (isDoubtfulDeletion(ground, there, lines, block.startsFile, isClosed))
      return { state: 'doubt', index, refusal: unclearEdge(block, file, from, to) };
    const at = { from: from - Number(up), to: to + Number(down) };
    placed.push({ block: at.from === at.to ? withBlanks(block) : block, ...at });
  }
  return { state: 'settled', placed };
}

/** Whether lines are deleted up to a bracket that could be any other. */
function isLooselyHeld(
  there: readonly string[],
  lines: readonly string[],
  isHeldAbove: boolean,
  isHeldBelow: boolean,
): boolean {
  const isLoose = (old: readonly string[], fresh: readonly string[]) => {
    const strong = fresh.findIndex(isInformative);
    const at = strong < 1 ? 0 : old.indexOf(fresh[strong] as string);
    return at > 0 && old.slice(0, at).some(isInformative);
  };
  return (
    (!isHeldAbove && isLoose(there, lines)) ||
    (!isHeldBelow && isLoose(there.toReversed(), lines.toReversed()))
  );
}

/** Whether the lines end with the bracket that closes the block which has lost its last lines. */
function closesGap(there: readonly string[], lines: readonly string[]): boolean {
  const closer = lines.at(-1);
  if (closer === undefined || !isCloser(closer) || there.at(-1) !== closer) return false;
  const kept = lines.length - 1;
  return (
    lines.slice(0, kept).every((line, at) => line === there[at]) &&
    there.slice(kept - 1, -1).every((line) => line === '' || indentOf(line) > indentOf(closer))
  );
}

/**
 * Whether a block without a new line deletes up to a line that it could also add: one that stands in the file several
 * times.
 */
function isDoubtfulDeletion(
  ground: Ground,
  there: readonly string[],
  lines: readonly string[],
  isHeldAbove: boolean,
  isHeldBelow: boolean,
): boolean {
  const { units } = ground;
  const isOnce = (line: string) => countOf(ground, line) === 1;
  const fresh = lines.filter(isInformative);
  const old = there.filter(isInformative);
  if (fresh.some((line) => countOf(ground, line) === 0) || old.length <= fresh.length) return false;
  const startsAlike = fresh.findIndex((line, at) => line !== old[at]);
  const endsAlike = fresh.toReversed().findIndex((line, at) => line !== old.at(-1 - at));
  const losesUnit =
    old.filter((line) => units.has(line)).length > fresh.filter((line) => units.has(line)).length;
  const isHeld = (run: readonly string[]) =>
    run.length > 1 || (run.some(isOnce) && !(losesUnit && isBeside(lines, run[0] as string)));
  const above = startsAlike < 0 ? fresh : fresh.slice(0, startsAlike);
  const below = endsAlike < 0 ? fresh : fresh.slice(fresh.length - endsAlike);
  // With one line left, the last line may as well have become one that stands elsewhere too.
  const [isTop, isBottom] = [isHeldAbove && below.length > 1, isHeldBelow && above.length > 1].map(
    (isAtEdge) => isAtEdge && !losesUnit,
  );
  return !(isTop || isHeld(above)) || !(isBottom || isHeld(below));
}

/** Whether the lines above and below are informative, so that this line may belong to one of them. */
function isBeside(lines: readonly string[], line: string): boolean {
  const at = lines.indexOf(line);
  const [above, below] = [lines[at - 1], lines[at + 1]];
  return (
    (above === undefined || isInformative(above)) && (below === undefined || isInformative(below))
  );
}

/** At the edge of the file the blank lines beside the marker belong to what is added. */
function withBlanks(block: EditBlock): EditBlock {
  const blanks = (count: number) => Array.from({ length: count }, () => '');
  const { above, below } = block.blanks;
  return { ...block, lines: [...blanks(above), ...block.lines, ...blanks(below)] };
}

/** Lines of the file beyond a block's new ones that are looked at. */
const FARTHEST = 12;

/** Whether the line after a gap does not come to belong to a new line: then another unit would take its tail. */
function keepsOwner(
  { first, last, from, to }: Gap,
  lines: readonly string[],
  file: readonly string[],
): boolean {
  const below = lines[last] as string;
  const hasOwner = (above: readonly string[]) => above.some((line) => owns(line, below));
  return hasOwner(lines.slice(first, last)) === hasOwner(file.slice(from, to));
}

/** Whether new text for the edge of the file has lines of the file that are as shallow as any: then a marker was forgotten. */
function startsWithContext(ground: Ground, lines: readonly string[], block: EditBlock): boolean {
  const strong = lines.filter((line) => line !== '');
  const depth = strong.reduce((least, line) => Math.min(least, indentOf(line)), Infinity);
  const edge = block.endsFile ? ground.lines.at(-1) : ground.lines[0];
  const top = strong[0] ?? '';
  // A file does not begin inside a unit.
  if (!block.endsFile && (indentOf(top) > depth || isCloser(top))) return true;
  return (
    depth > indentOf(edge ?? '') ||
    strong.some(
      (line) => isInformative(line) && indentOf(line) === depth && countOf(ground, line) > 0,
    )
  );
}

/** Without a marker the lines up to the file's edge are replaced. Then the block must show something in their place. */
function decideFileEdge(
  fresh: readonly string[],
  beyond: readonly string[],
): number | 'cut' | 'impossible' {
  const shown = fresh.filter(isInformative).length;
  const gone = beyond.filter(isInformative).length;
  const lost = beyond.filter((line) => line !== '').length;
  if (lost === 0 || (gone <= shown && lost <= fresh.length)) return beyond.length;
  return fresh.length > 0 && shown === 0 ? 'impossible' : 'cut';
}

/** Whether two choices lead to one text. Only the lines between the outermost changes are compared. */
function isSameResult(
  file: readonly string[],
  one: readonly PlacedBlock[],
  other: readonly PlacedBlock[],
): boolean {
  const start = Math.min(one[0]?.from ?? 0, other[0]?.from ?? 0);
  const end = Math.max(one.at(-1)?.to ?? 0, other.at(-1)?.to ?? 0);
  const resultOf = (placed: readonly PlacedBlock[]) => {
    const result: string[] = [];
    let at = start;
    for (const { block, from, to } of placed) {
      result.push(...file.slice(at, from), ...block.lines.map((line) => line.trimEnd()));
      at = to;
    }
    return [...result, ...file.slice(at, end)].join('\n');
  };
  return resultOf(one) === resultOf(other);
}

function findDeletion(file: readonly string[], placed: readonly PlacedBlock[]): EditRefusal | null {
  const lost = placed.map(({ block, from, to }) => {
    const gone = file.slice(from, to).filter(isInformative).length;
    return Math.max(0, gone - block.lines.filter(isInformative).length);
  });
  const total = lost.reduce((sum, count) => sum + count, 0);
  if (total > EDIT_LIMITS.maxDeletedLines) {
    return refuse(
      'TOO_MUCH_DELETED',
      `The edit would delete ${total} lines without naming them, more than ${EDIT_LIMITS.maxDeletedLines}: add markers ` +
        'where code stays, or give the whole file with write.',
    );
  }
  const isNothing = (from: number, to: number) => !file.slice(from, to).some((line) => line !== '');
  for (const [index, { block, from, to }] of placed.entries()) {
    if ((lost[index] ?? 0) === 0) continue;
    const isIdle =
      (!block.startsFile && isNothing(placed[index - 1]?.to ?? 0, from)) ||
      (!block.endsFile && isNothing(to, placed[index + 1]?.from ?? file.length));
    if (!isIdle) continue;
    return refuse(
      'TOO_MUCH_DELETED',
      `The block at line ${block.number} of the edit would delete lines, and a marker beside it would stand for no line: ` +
        'give more unchanged lines beside that marker, or delete with str_replace.',
    );
  }
  return null;
}

function tearsUnit(block: EditBlock): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit would put lines that stay into another function or section: give the ` +
      'unchanged lines around the change, with the head and the end of what they stand in, or use str_replace.',
  );
}

function noChange(): EditRefusal {
  return refuse(
    'NO_CHANGE',
    'The file already reads as it would after this edit: nothing is left to change.',
  );
}

const quote = (line: string) => `\`${line.trim().slice(0, EDIT_LIMITS.maxHintLineChars)}\``;

function noAnchor(ground: Ground, block: EditBlock): EditRefusal {
  const near = block.lines.find(
    (line) => isInformative(line) && countOf(ground, line.trimEnd()) === 0,
  );
  return refuse(
    'NO_ANCHOR',
    `The block at line ${block.number} of the edit has no unchanged line of the file` +
      `${near === undefined ? '' : ` (${quote(near)} with this indentation is not in it)`}: add lines beside the change ` +
      'as they stand in the file, or use str_replace.',
  );
}

function wrongOrder(): EditRefusal {
  return refuse(
    'NO_ANCHOR',
    'Each block of the edit fits the file, but not all of them in this order: give the blocks in the order of the file.',
  );
}

function fitsEverywhere(block: EditBlock): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit, or those before it, fits the file at too many places to compare them: ` +
      'give lines around the change that stand there once, make several edits of it, or use str_replace.',
  );
}

function ambiguous(
  blocks: readonly EditBlock[],
  best: readonly PlacedBlock[],
  rival: readonly BlockPlace[],
): EditRefusal {
  const index = Math.max(
    0,
    best.findIndex(({ from, to }, at) => from !== rival[at]?.from || to !== rival[at]?.to),
  );
  const [first, second] = [best[index], rival[index]];
  return refuse(
    'AMBIGUOUS',
    `The block at line ${blocks[index]?.number} of the edit fits lines ${formatSpan(first)} as well as lines ` +
      `${formatSpan(second)}: give more unchanged lines around the change, or use str_replace.`,
  );
}

function formatSpan(span: { from: number; to: number } | undefined): string {
  return span === undefined ? '' : `${span.from + 1}-${span.to}`;
}

function cutsEdge(block: EditBlock): EditRefusal {
  return refuse(
    'TOO_MUCH_DELETED',
    `The block at line ${block.number} of the edit has no marker at the edge of the file, so the lines there would be ` +
      'deleted: add the marker if they stay, or delete them with str_replace.',
  );
}

function unclearEdge(
  block: EditBlock,
  file: readonly string[],
  from: number,
  to: number,
): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit has new lines beside a marker, and it is unclear whether they replace ` +
      `lines there (near lines ${from + 1}-${Math.min(file.length, to + 1)}) or are added: add an unchanged line between them and the marker, or use str_replace.`,
  );
}
