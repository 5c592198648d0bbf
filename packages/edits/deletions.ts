/** Judges deletions: an edit does not name the lines that it deletes, it leaves them out. */
import { countOf, type Ground } from './anchors.ts';
import type { PlacedBlock } from './blocks.ts';
import { indentOf, isCloser, isInformative } from './likeness.ts';

/** A block from its first to its last unchanged line. */
export interface HeldBlock extends PlacedBlock {
  readonly ground: Ground;
  /** The block's lines. */
  readonly shown: readonly string[];
  /** The file's lines, which they replace. */
  readonly there: readonly string[];
}

/** Whether lines are deleted up to a bracket that could be any other. */
export function isLooselyHeld(here: HeldBlock): boolean {
  const { block, shown, there } = here;
  const isLoose = (old: readonly string[], kept: readonly string[]) => {
    const strong = kept.findIndex(isInformative);
    const at = strong < 1 ? 0 : old.indexOf(kept[strong] as string);
    return at > 0 && old.slice(0, at).some(isInformative);
  };
  return (
    (!block.startsFile && isLoose(there, shown)) ||
    (!isHeldBelow(here) && isLoose(there.toReversed(), shown.toReversed()))
  );
}

/** Whether the block reaches to the end of the file, or to the bracket that closes the unit whose last lines it deletes. */
function isHeldBelow({ block, shown, there }: HeldBlock): boolean {
  if (block.endsFile) return true;
  const closer = shown.at(-1);
  if (closer === undefined || !isCloser(closer) || there.at(-1) !== closer) return false;
  const kept = shown.length - 1;
  return (
    shown.slice(0, kept).every((line, at) => line === there[at]) &&
    there.slice(kept - 1, -1).every((line) => line === '' || indentOf(line) > indentOf(closer))
  );
}

/**
 * Whether a block without a new line deletes up to a line that it could also add: one that stands in the file several
 * times.
 */
export function mayAddInstead(here: HeldBlock): boolean {
  const { ground, block, there } = here;
  const kept = block.texts.filter(isInformative);
  const old = there.filter(isInformative);
  if (kept.some((line) => countOf(ground, line) === 0) || old.length <= kept.length) return false;
  const unlikeAbove = kept.findIndex((line, at) => line !== old[at]);
  const unlikeBelow = kept.toReversed().findIndex((line, at) => line !== old.at(-1 - at));
  const above = unlikeAbove < 0 ? kept : kept.slice(0, unlikeAbove);
  const below = unlikeBelow < 0 ? kept : kept.slice(kept.length - unlikeBelow);
  const countUnits = (lines: readonly string[]) =>
    lines.filter((line) => ground.units.has(line)).length;
  const losesUnit = countUnits(old) > countUnits(kept);
  const isHeld = ([line, ...more]: readonly string[]) =>
    more.length > 0 ||
    (line !== undefined &&
      countOf(ground, line) === 1 &&
      !(losesUnit && isBeside(block.texts, line)));
  // With one line left, the last line may as well have become one that stands elsewhere too.
  const isTop = block.startsFile && below.length > 1 && !losesUnit;
  const isBottom = !losesUnit && above.length > 1 && isHeldBelow(here);
  return !(isTop || isHeld(above)) || !(isBottom || isHeld(below));
}

/** Whether the lines above and below are informative, so that this line may belong to one of them. */
function isBeside(lines: readonly string[], line: string): boolean {
  const at = lines.indexOf(line);
  return [lines[at - 1], lines[at + 1]].every((near) => near === undefined || isInformative(near));
}

/** How many informative lines the block deletes beyond those that it has. */
export function countDeleted({ lines: file }: Ground, { block, from, to }: PlacedBlock): number {
  const gone = file.slice(from, to).filter(isInformative).length;
  return Math.max(0, gone - block.texts.filter(isInformative).length);
}

/** Whether the block has no informative line that is new, and fewer than it replaces. */
export function onlyDeletes(ground: Ground, place: PlacedBlock): boolean {
  const isKnown = (line: string) => !isInformative(line) || countOf(ground, line) > 0;
  return place.block.texts.every(isKnown) && countDeleted(ground, place) > 0;
}

/** The block that deletes lines beside a marker that stands for no line. */
export function findAtIdleMarker(
  ground: Ground,
  placed: readonly PlacedBlock[],
): PlacedBlock | undefined {
  const { lines: file } = ground;
  const isNothing = (from: number, to: number) => !file.slice(from, to).some((line) => line !== '');
  return placed.find((place, index) => {
    if (countDeleted(ground, place) === 0) return false;
    const { block, from, to } = place;
    return (
      (!block.startsFile && isNothing(placed[index - 1]?.to ?? 0, from)) ||
      (!block.endsFile && isNothing(to, placed[index + 1]?.from ?? file.length))
    );
  });
}
