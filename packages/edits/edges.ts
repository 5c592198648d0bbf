/**
 * Decides what happens to the file's lines beside a block whose edge has new lines: they stay, or the new lines are
 * another version of them.
 */
import type { BlockPlace, Ground } from './anchors.ts';
import type { EditBlock } from './blocks.ts';
import {
  balanceOf,
  canFollow,
  indentOf,
  isCloser,
  isInformative,
  isLeaving,
  type Likeness,
  likenessOf,
  owns,
} from './likeness.ts';

/** What a block's new lines replace beyond its unchanged ones. */
export interface DecidedEdges {
  /** How many lines of the file; 0 where that is unclear. */
  readonly above: number;
  readonly below: number;
  /** Why that cannot be known above, or else below. `cut` is only for an edge of the file. */
  readonly unclear: 'cut' | 'doubt' | 'impossible' | null;
}

/** The new lines may replace lines of the file between `room.from` and `room.to`. */
export function decideEdges(
  ground: Ground,
  block: EditBlock,
  { from, to, first, last }: BlockPlace,
  room: { readonly from: number; readonly to: number },
): DecidedEdges {
  const { lines: file } = ground;
  const { texts, startsFile, endsFile } = block;
  const shown = texts.slice(first, last);
  const decide = (isBelow: boolean): EdgeDecision => {
    const fresh = isBelow ? texts.slice(last) : texts.slice(0, first).reverse();
    const anchor = first === last ? undefined : file[isBelow ? to - 1 : from];
    const isFileEdge = anchor !== undefined && (isBelow ? endsFile : startsFile);
    if (fresh.length === 0 && !isFileEdge) return 0;
    const reach = isFileEdge ? file.length : fresh.length * 2 + FARTHEST;
    const beyond = isBelow
      ? file.slice(to, Math.min(room.to, to + reach))
      : file.slice(Math.max(room.from, from - reach), from).reverse();
    if (isFileEdge) return decideFileEdge(fresh, beyond);
    return decideEdge({ ground, block, shown, fresh, beyond, anchor, isBelow });
  };
  const above = decide(false);
  if (typeof above === 'string') return { above: 0, below: 0, unclear: above };
  const below = decide(true);
  if (typeof below === 'string') return { above, below: 0, unclear: below };
  return { above, below, unclear: null };
}

type EdgeDecision = number | 'cut' | 'doubt' | 'impossible';

/** Lines beyond a block's new ones that are looked at, beside two for each new line. */
const FARTHEST = 12;

/** Without a marker the lines up to the file's edge are replaced. Then the block must show something in their place. */
function decideFileEdge(fresh: readonly string[], beyond: readonly string[]): EdgeDecision {
  const shown = fresh.filter(isInformative).length;
  const gone = beyond.filter(isInformative).length;
  const lost = beyond.filter((line) => line !== '').length;
  if (lost === 0 || (gone <= shown && lost <= fresh.length)) return beyond.length;
  return fresh.length > 0 && shown === 0 ? 'impossible' : 'cut';
}

/** The new lines at one edge of a block, and the file's lines beyond. Both are in order away from the block's anchor. */
interface Edge {
  readonly ground: Ground;
  readonly block: EditBlock;
  /** The block's lines from the first to the last unchanged one. */
  readonly shown: readonly string[];
  readonly fresh: readonly string[];
  readonly beyond: readonly string[];
  /** The block's unchanged line beside the new ones; undefined for a block with none. */
  readonly anchor: string | undefined;
  /** Whether the new lines stand below the anchor. */
  readonly isBelow: boolean;
}

function decideEdge(edge: Edge): EdgeDecision {
  const { fresh, beyond, shown, isBelow } = edge;
  if (fresh.every((line) => line === '' || isCloser(line))) return 'impossible';
  const { replaced, paired, skipped } = pairVersions(edge);
  const strong = fresh.filter(isInformative).length;
  const isBareEnd = !isBelow && strong <= 1 && !shown.some(isInformative);
  for (let count = replaced; count <= beyond.length; count++) {
    if (count > replaced && !isReplaceable(edge, beyond.slice(replaced, count))) break;
    if (!fits(edge, count)) continue;
    if (skipped > 0) return 'doubt';
    if (count > replaced) return isSettled(edge, count) ? count : 'doubt';
    if (!isBareEnd && hasDoubt(edge, paired, count)) return 'doubt';
    if (count === 0 && (mayEndUnit(edge) || repeats(edge))) return 'doubt';
    if (isBareEnd && count === 0) return decideBare(edge);
    return count;
  }
  return 'impossible';
}

/**
 * One line for the end of the file. It replaces the last line if that is the only one of its sort; it is added after a
 * deeper line.
 */
function decideBare({ fresh, beyond }: Edge): EdgeDecision {
  const line = fresh.find(isInformative);
  const at = beyond.findIndex((other) => other !== '');
  const last = beyond[at];
  if (line === undefined || last === undefined || indentOf(last) > indentOf(line)) return 0;
  const isAlike = (other: string | undefined) =>
    other !== undefined && likenessOf(other, last) !== 'other';
  const before = beyond[at + 1];
  return isAlike(line) &&
    (before === '' || (before !== undefined && indentOf(before) !== indentOf(last)))
    ? at + 1
    : 'doubt';
}

/** The pairs of versions of one line, from the anchor on. `skipped` are lines between them that have no version. */
function pairVersions(edge: Edge): { replaced: number; paired: number; skipped: number } {
  const { fresh, beyond } = edge;
  let [replaced, paired, skipped, passed] = [0, 0, 0, 0];
  for (let at = 0; at < beyond.length && passed <= fresh.length; at++) {
    const line = beyond[at] as string;
    if (!isInformative(line)) continue;
    const pair = fresh.findIndex((_, index) => index >= paired && isVersion(edge, index, at));
    if (pair < 0) passed++;
    else {
      skipped += isLeaving(line) && !isSetApart(beyond, at) ? 0 : passed;
      [replaced, paired, passed] = [at + 1, pair + 1, 0];
    }
  }
  return { replaced, paired, skipped };
}

/** Two versions of a line also belong to the same line above. */
function isVersion(edge: Edge, one: number, other: number, likeness: Likeness = 'same'): boolean {
  const { fresh, beyond, isBelow } = edge;
  if (likenessOf(fresh[one] as string, beyond[other] as string) !== likeness) return false;
  if (isSetApart(fresh, one) !== isSetApart(beyond, other)) return false;
  const [parent, former] = [ownerOf(fresh, one, isBelow), ownerOf(beyond, other, isBelow)];
  if (parent === undefined) return !isBelow || former === undefined;
  return former !== undefined && isVersion(edge, parent, former);
}

/** Whether a less indented line stands between the anchor and this line. */
function isSetApart(lines: readonly string[], at: number): boolean {
  const depth = indentOf(lines[at] as string);
  return lines.slice(0, at).some((line) => line !== '' && indentOf(line) < depth);
}

/** The index of the line, among these, that another one belongs to. */
function ownerOf(lines: readonly string[], at: number, isBelow: boolean): number | undefined {
  const step = isBelow ? -1 : 1;
  for (let index = at + step; index >= 0 && index < lines.length; index += step)
    if (owns(lines[index] as string, lines[at] as string)) return index;
  return undefined;
}

/** Lines without a version of their own are replaced only by at least as many lines that are no less indented. */
function isReplaceable({ fresh, ground, anchor }: Edge, lines: readonly string[]): boolean {
  const strong = fresh.filter(isInformative).length;
  const least = Math.min(...fresh.filter((line) => line !== '').map(indentOf));
  return (
    lines.filter(isInformative).length <= strong &&
    (strong === 1 || (anchor !== undefined && !lines.some((line) => ground.units.has(line)))) &&
    (fresh.includes('') || !lines.includes('')) &&
    lines.every((line) => line === '' || indentOf(line) >= least)
  );
}

/** Whether a line of the nearest paragraph may be a version of a new line, or just one more like it. */
function hasDoubt(edge: Edge, paired: number, count: number): boolean {
  const { fresh, beyond } = edge;
  const strong = fresh.filter(isInformative).length;
  let near = 0;
  for (let at = count; at < beyond.length && near <= strong; at++) {
    const line = beyond[at] as string;
    if (line === '' && near > 0) return false;
    if (!isInformative(line)) continue;
    near++;
    for (let index = paired; index < fresh.length; index++)
      if (isVersion(edge, index, at, 'doubt')) return true;
  }
  return false;
}

/** Whether the new lines that are no version of a replaced line are no version of a line that stays either. */
function isSettled(edge: Edge, count: number): boolean {
  const gone = edge.beyond.slice(0, count);
  const fresh = edge.fresh.filter((line) =>
    gone.every((other) => other === '' || likenessOf(line, other) === 'other'),
  );
  return fresh.length === 0 || !hasDoubt({ ...edge, fresh }, 0, count);
}

/** Whether most of the new lines stand in the file just beyond, so that they may have been meant as unchanged. */
function repeats({ fresh, beyond }: Edge): boolean {
  const shown = fresh.filter(isInformative);
  const near = beyond.filter(isInformative).slice(0, 2 * shown.length + 1);
  const equal = shown.filter((line) => near.includes(line)).length;
  return equal > 0 && equal * 2 >= shown.length;
}

/**
 * Whether the block may show a whole unit without brackets, from its header on: the marker is less indented than the
 * lines that would stay of the unit, and there are no more of them than new lines.
 */
function mayEndUnit({ fresh, beyond, isBelow, shown, block: { marker } }: Edge): boolean {
  const near = fresh.find((line) => line !== '');
  if (!isBelow || marker === null || near === undefined) return false;
  const depth = indentOf(near);
  if (
    depth === 0 ||
    indentOf(marker) >= depth ||
    !shown.some((line) => line !== '' && indentOf(line) < depth)
  )
    return false;
  const outside = beyond.findIndex((line) => line !== '' && indentOf(line) < depth);
  if (outside >= 0 && isCloser(beyond[outside] as string)) return false;
  const rest = (outside < 0 ? beyond : beyond.slice(0, outside)).filter(isInformative);
  return rest.length > 0 && rest.length <= fresh.filter(isInformative).length;
}

/** Whether the file keeps its structure: brackets, bodies, and the line that each remaining line belongs to. */
function fits(
  { fresh, beyond, anchor, isBelow, block: { endsFile }, ground }: Edge,
  count: number,
): boolean {
  const gone = beyond.slice(0, count);
  if (ground.isBalanced && balanceOf(fresh) !== balanceOf(gone)) return false;
  const outer = beyond.slice(count).find((line) => line !== '');
  const far = fresh.findLast((line) => line !== '');
  const near = fresh.find((line) => line !== '');
  const [before, after] = isBelow ? [far, outer] : [outer, far];
  if (!canFollow(before, after)) return false;
  if (!(isBelow ? canFollow(anchor, near) : canFollow(near, anchor))) return false;
  const below = isBelow ? outer : anchor;
  if (below === undefined) return true;
  const [owners, former] = [fresh, gone].map((lines) =>
    ownersOf(below, isBelow ? lines.toReversed() : lines),
  ) as [string[], string[]];
  if (owners.length !== former.length) return false;
  if (isBelow) return true;
  return owners.every((owner, index) => {
    const likeness = likenessOf(owner, former[index] as string);
    if (likeness !== 'other') return likeness === 'same' || !endsFile;
    const [shown, replaced] = [fresh, gone].map((lines) => lines.filter(isInformative).length);
    return !endsFile && (shown === 1 || (shown === 2 && replaced === 1));
  });
}

/** The lines that a line belongs to, the nearest first. `above` has the lines above it, the nearest first. */
function ownersOf(line: string, above: readonly string[]): string[] {
  const owners: string[] = [];
  for (const each of above) if (owns(each, owners.at(-1) ?? line)) owners.push(each);
  return owners;
}
