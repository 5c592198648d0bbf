/** Chooses the reading of an edit: a place for each of its blocks. */
import { type BlockPlace, countOf, findPlaces, type Ground } from './anchors.ts';
import type { EditBlock, PlacedBlock } from './blocks.ts';
import { type Chain, chainsOf } from './chains.ts';
import { onlyDeletes } from './deletions.ts';
import { isInformative } from './likeness.ts';
import { EDIT_LIMITS } from './limits.ts';
import { type EditRefusal, refuse } from './refusal.ts';
import { judgeReading, judgeWhole } from './verdicts.ts';

/** The lines that each block replaces, in the order of the file. */
type PlacedEdit = { readonly ok: true; readonly placed: readonly PlacedBlock[] } | EditRefusal;

/**
 * Judges the readings from the best one on. The first that is possible is chosen, unless it is in doubt, or a rival that
 * weighs nearly as much leads to another text.
 */
export function chooseReading(ground: Ground, blocks: readonly EditBlock[]): PlacedEdit {
  const candidates: (readonly BlockPlace[])[] = [];
  for (const block of blocks) {
    const places = findBlockPlaces(ground, block);
    if (places === null) return fitsEverywhere(block);
    if (places.length === 0) return noAnchor(ground, block);
    candidates.push(places);
  }
  let best: BestReading | undefined;
  let impossible: EditRefusal | undefined;
  const seen = new Set<string>();
  let chains = chainsOf(candidates);
  for (let next = 0; next < chains.length; next++) {
    const { score, index, span, spans } = chains[next] as Chain<BlockPlace>;
    // The best reading itself, found through one of its places.
    if (best?.places[index] === span) continue;
    if (best !== undefined && score < best.score - LARGEST_MARGIN) break;
    const places = spans();
    if (best !== undefined && score < best.score - marginOf(ground, best, places)) continue;
    const key = places.map(({ from, to, first }) => `${from}-${to}-${first}`).join();
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > EDIT_LIMITS.maxMergeReadings)
      return best === undefined && impossible ? impossible : fitsEverywhere(blocks[0] as EditBlock);
    const verdict = judgeReading(ground, blocks, places);
    switch (verdict.type) {
      case 'impossible': {
        impossible ??= verdict.refusal;
        // Other chains went through the same place: all are made again without it.
        const out = places[verdict.index];
        candidates[verdict.index] = (candidates[verdict.index] ?? []).filter(
          (place) => place !== out,
        );
        chains = chainsOf(candidates);
        next = -1;
        break;
      }
      case 'loose':
        if (best === undefined) return verdict.refusal;
        break;
      case 'doubt':
        return best === undefined ? verdict.refusal : ambiguous(blocks, best, places);
      case 'stands':
        if (best === undefined) best = { placed: verdict.placed, places, score };
        else if (!isSameResult(ground.lines, verdict.placed, best.placed))
          return ambiguous(blocks, best, places);
        break;
    }
  }
  if (best === undefined) return impossible ?? wrongOrder();
  return judgeWhole(ground, best.placed) ?? { ok: true, placed: best.placed };
}

/** The best possible reading so far. */
interface BestReading {
  readonly placed: readonly PlacedBlock[];
  readonly places: readonly BlockPlace[];
  readonly score: number;
}

/** A block without a marker may also stand at the edge of the file with none of its lines. Null for too many places. */
function findBlockPlaces(ground: Ground, block: EditBlock): readonly BlockPlace[] | null {
  const { texts: lines, startsFile, endsFile } = block;
  const places = findPlaces(ground, { lines, startsFile, endsFile });
  if (places === null) return null;
  const atEdge = (at: number, row: number): BlockPlace => ({
    from: at,
    to: at,
    first: row,
    last: row,
    score: 0,
    gaps: [],
    isLoose: false,
  });
  if (startsFile) places.push(atEdge(0, 0));
  if (endsFile) places.push(atEdge(ground.lines.length, lines.length));
  return places;
}

/**
 * A reading is no rival if it weighs less than the best one by more than this margin, which depends on what the best
 * one does with a block that has another place in the rival. The first row that holds counts.
 */
const MARGINS: readonly {
  readonly margin: number;
  readonly holds: (ground: Ground, here: PlacedBlock, place: BlockPlace) => boolean;
}[] = [
  // The number of lines that are deleted weighs nothing.
  { margin: 50, holds: onlyDeletes },
  // A block that changes nothing at its best place was most likely meant for another one like it.
  { margin: 200, holds: isIdle },
  { margin: 14, holds: (_ground, _here, { isLoose }) => isLoose },
  { margin: 4, holds: () => true },
];
const LARGEST_MARGIN = Math.max(...MARGINS.map(({ margin }) => margin));

function marginOf(ground: Ground, best: BestReading, rival: readonly BlockPlace[]): number {
  let largest = 0;
  for (const [index, place] of best.places.entries()) {
    if (place.from === rival[index]?.from && place.to === rival[index]?.to) continue;
    const here = best.placed[index] as PlacedBlock;
    const row = MARGINS.find(({ holds }) => holds(ground, here, place));
    largest = Math.max(largest, row?.margin ?? 0);
  }
  return largest;
}

/** Whether the block changes nothing, and has no line that stands in the file once. */
function isIdle(ground: Ground, { block, from, to }: PlacedBlock): boolean {
  return (
    to - from === block.texts.length &&
    block.texts.every((line, at) => line === ground.lines[from + at]) &&
    !block.texts.some((line) => isInformative(line) && countOf(ground, line) === 1)
  );
}

/** Whether two readings lead to one text. Only the lines between the outermost changes are compared. */
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
      result.push(...file.slice(at, from), ...block.texts);
      at = to;
    }
    return [...result, ...file.slice(at, end)].join('\n');
  };
  return resultOf(one) === resultOf(other);
}

function fitsEverywhere(block: EditBlock): EditRefusal {
  return refuse(
    'AMBIGUOUS',
    `The block at line ${block.number} of the edit, or those before it, fits the file at too many places to compare them: ` +
      'give lines around the change that stand there once, make several edits of it, or use str_replace.',
  );
}

function noAnchor(ground: Ground, block: EditBlock): EditRefusal {
  const near = block.texts.find((line) => isInformative(line) && countOf(ground, line) === 0);
  const quoted = `\`${near?.trim().slice(0, EDIT_LIMITS.maxHintLineChars)}\``;
  return refuse(
    'NO_ANCHOR',
    `The block at line ${block.number} of the edit has no unchanged line of the file` +
      `${near === undefined ? '' : ` (${quoted} with this indentation is not in it)`}: add lines beside the change ` +
      'as they stand in the file, or use str_replace.',
  );
}

function wrongOrder(): EditRefusal {
  return refuse(
    'NO_ANCHOR',
    'Each block of the edit fits the file, but not all of them in this order: give the blocks in the order of the file.',
  );
}

function ambiguous(
  blocks: readonly EditBlock[],
  best: BestReading,
  rival: readonly BlockPlace[],
): EditRefusal {
  const apart = best.placed.findIndex(
    ({ from, to }, at) => from !== rival[at]?.from || to !== rival[at]?.to,
  );
  const index = Math.max(0, apart);
  const [first, second] = [best.placed[index], rival[index]].map(
    (span) => span && `${span.from + 1}-${span.to}`,
  );
  return refuse(
    'AMBIGUOUS',
    `The block at line ${blocks[index]?.number} of the edit fits lines ${first} as well as lines ` +
      `${second}: give more unchanged lines around the change, or use str_replace.`,
  );
}
