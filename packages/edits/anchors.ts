/** Finds where a block's unchanged lines stand in the file. */
import { balanceOf, isUnitStart, likenessOf } from './likeness.ts';
import { EDIT_LIMITS } from './limits.ts';
import { INFORMATIVE_WEIGHT, weighLine } from './lines.ts';

/** A place of a block, from its first to its last unchanged line: lines `from` up to but not including `to`. */
export interface BlockPlace {
  readonly from: number;
  readonly to: number;
  /** The block's lines that stand there, from index `first` up to but not including `last`. */
  readonly first: number;
  readonly last: number;
  /** How many lines agree, less what stands between them and would be deleted. */
  readonly score: number;
  /** Where new lines replace others between two unchanged ones. */
  readonly gaps: readonly Gap[];
  /** Whether lines that only resemble each other hold it together. */
  readonly isLoose: boolean;
}

/** The block's lines `first` to `last` stand in place of the file's lines `from` to `to`; all half-open. */
export interface Gap {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
}

/** The file's lines as they are compared. */
export interface Ground {
  readonly lines: readonly string[];
  /** Where each line of the edit stands in the file. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** The lines that begin a function, a class or another unit, and where they stand. */
  readonly units: ReadonlySet<string>;
  readonly unitPlaces: readonly number[];
  /** Whether each bracket and tag of the file is closed, so that they can be counted in its parts. */
  readonly isBalanced: boolean;
  /** The cost of deleting all lines before an index. */
  readonly costs: Float64Array;
  /** Comparisons that are left for all blocks together. */
  left: number;
}

export function toGround(lines: readonly string[], edit: readonly string[]): Ground {
  const places = new Map<string, number[]>(edit.map((line) => [line, []]));
  const costs = new Float64Array(lines.length + 1);
  const units = new Set<string>();
  const unitPlaces: number[] = [];
  lines.forEach((line, at) => {
    const cost = costOf(line, lines[at + 1]);
    places.get(line)?.push(at);
    costs[at + 1] = (costs[at] as number) + cost;
    if (cost < UNIT_COST) return;
    units.add(line);
    unitPlaces.push(at);
  });
  const isBalanced = balanceOf(lines) === 0;
  const left = EDIT_LIMITS.maxComparedLines;
  return { lines, places, units, unitPlaces, isBalanced, costs, left };
}

/** How often a line of the edit stands in the file. */
export function countOf({ places }: Ground, line: string): number {
  return places.get(line)?.length ?? 0;
}

/** The lines of a block, and which edges of the file it reaches to. */
export interface Sought {
  readonly lines: readonly string[];
  readonly startsFile: boolean;
  readonly endsFile: boolean;
}

/**
 * For every end the best beginning, and for every beginning the best end, each with at least one informative line.
 * Null where finding them would take too long.
 */
export function findPlaces(ground: Ground, sought: Sought): BlockPlace[] | null {
  const { lines, startsFile, endsFile } = sought;
  const { length } = ground.lines;
  const gains = gainsOf(ground, lines);
  const versions = versionsOf(ground, lines, gains);
  const forwards = align(ground, { lines, gains, versions, startsFile, endsFile }, false);
  const backwards = align(
    ground,
    {
      lines: lines.toReversed(),
      gains: gains.toReversed(),
      versions: versions.toReversed(),
      startsFile: endsFile,
      endsFile: startsFile,
    },
    true,
  );
  if (ground.left < 0) return null;
  const places = new Map<string, BlockPlace>();
  const add = (place: BlockPlace) => {
    const key = `${place.from} ${place.to}`;
    if (place.score > (places.get(key)?.score ?? 0)) places.set(key, place);
  };
  for (const place of forwards) add(place);
  for (const place of backwards) add(mirrored(place, length, lines.length));
  const found = [...places.values()].sort((a, b) => b.score - a.score);
  if (startsFile || endsFile) return found;
  return [...found, ...repeatsOf(ground, lines, found)];
}

function mirrored(place: BlockPlace, length: number, rows: number): BlockPlace {
  const mirror = ({ from, to, first, last }: Gap) => ({
    from: length - to,
    to: length - from,
    first: rows - last,
    last: rows - first,
  });
  return { ...place, ...mirror(place), gaps: place.gaps.map(mirror) };
}

/** A better but impossible place can hide one that is as good as another: equal runs of lines are all places. */
function repeatsOf(
  ground: Ground,
  lines: readonly string[],
  found: readonly BlockPlace[],
): BlockPlace[] {
  const known = new Set(found.map(({ from, to, first }) => `${from} ${to} ${first}`));
  return found.slice(0, REPEATED_PLACES).flatMap((place) => {
    if (place.gaps.length > 0 || place.to - place.from !== place.last - place.first) return [];
    const run = lines.slice(place.first, place.last);
    const rarest = run.reduce(
      (rare, line, at) =>
        countOf(ground, line) < countOf(ground, run[rare] as string) ? at : rare,
      0,
    );
    const starts = (ground.places.get(run[rarest] as string) ?? []).map((at) => at - rarest);
    return starts
      .slice(0, EDIT_LIMITS.maxMergePlaces)
      .filter((from) => !known.has(`${from} ${from + run.length} ${place.first}`))
      .filter((from) => run.every((line, at) => ground.lines[from + at] === line))
      .map((from) => ({ ...place, from, to: from + run.length }));
  });
}

const REPEATED_PLACES = 5;

/** The weight of each line of a block that also stands in the file; 0 for a new line. */
function gainsOf(ground: Ground, lines: readonly string[]): number[] {
  const isStrong = (line: string) => weighLine(line) === INFORMATIVE_WEIGHT;
  // A block without a new line can only delete, so each of its lines must have its place.
  const isKnown = lines.every((line) => !isStrong(line) || countOf(ground, line) > 0);
  return lines.map((line) => {
    const count = countOf(ground, line);
    if (count === 0) return 0;
    if (!isStrong(line)) return line === '' ? BLANK_GAIN : WEAK_GAIN;
    return (count === 1 ? UNIQUE_GAIN : REPEATED_GAIN) + (isKnown ? KNOWN_GAIN : 0);
  });
}

/**
 * For each new line that begins a unit: the lines of the file that may be another version of it. They bridge a gap
 * between equal lines.
 */
function versionsOf(
  { lines: file, unitPlaces }: Ground,
  lines: readonly string[],
  gains: readonly number[],
): (Versions | undefined)[] {
  return lines.map((line, row) => {
    if (gains[row] !== 0 || unitPlaces.length * lines.length > MOST_PAIRS) return undefined;
    const likely = unitPlaces.filter((at) => likenessOf(line, file[at] as string) === 'same');
    if (likely.length === 1) return { at: likely, isCertain: true };
    const at = unitPlaces.filter((place) => likenessOf(line, file[place] as string) !== 'other');
    return at.length > 0 ? { at, isCertain: false } : undefined;
  });
}

interface Versions {
  readonly at: readonly number[];
  /** Whether it is the only line that defines the same: then it is as good as an equal one. */
  readonly isCertain: boolean;
}

const MOST_PAIRS = 50_000;
const VERSION_GAIN = 1;
// Sums of these numbers are exact, so that equal choices stay equal.
const UNIQUE_GAIN = 10;
const REPEATED_GAIN = 6;
const KNOWN_GAIN = 1_000;
const WEAK_GAIN = 1.5;
const BLANK_GAIN = 0.25;

/** What a deleted line costs. A definition or another beginning of a unit is rarely deleted without a word. */
function costOf(line: string, next: string | undefined): number {
  const weight = weighLine(line);
  if (weight < INFORMATIVE_WEIGHT) return line === '' ? 0.125 : 0.5;
  return isUnitStart(line, next) ? UNIT_COST : LINE_COST;
}

const LINE_COST = 1.25;
const UNIT_COST = 16;

/** A block as it is aligned: read downwards, or for the mirrored alignment upwards. */
interface Rows extends Sought {
  readonly gains: readonly number[];
  readonly versions: readonly (Versions | undefined)[];
}

interface Path extends BlockPlace {
  readonly isStrong: boolean;
  /** Whether its last line only resembles the file's. */
  readonly isLike: boolean;
}

/** For every line of the file where an alignment can end, the best one. With `isMirrored` the file is read upwards. */
function align(ground: Ground, rows: Rows, isMirrored: boolean): Path[] {
  const { lines, gains, versions, startsFile, endsFile } = rows;
  const { length } = ground.lines;
  const gapCost = costBetween(
    ground,
    isMirrored,
    gains.some((gain) => gain > KNOWN_GAIN),
  );
  const edgeCost = (from: number, to: number, shown: number) =>
    shown === 0 ? gapCost(from, to) : Math.max(0, gapCost(from, to) - GAP_COST - shown * LINE_COST);
  const placesOf = (places: readonly number[]) =>
    isMirrored ? places.map((at) => length - 1 - at).reverse() : places;
  const paths = new Map<number, Path>();
  let ends: number[] = [];
  for (const [row, line] of lines.entries()) {
    const likes = versions[row];
    const gain =
      likes === undefined ? (gains[row] as number) : likes.isCertain ? REPEATED_GAIN : VERSION_GAIN;
    if (gain === 0) continue;
    const isLike = likes?.isCertain === false;
    const isStrong = gain >= REPEATED_GAIN;
    const places = placesOf(likes?.at ?? ground.places.get(line) ?? []);
    ground.left -= places.length + ends.length;
    if (ground.left < 0) return [];
    const fresh: Path[] = [];
    let before: Path | undefined;
    let next = 0;
    for (const at of places) {
      for (; (ends[next] ?? length + 1) <= at; next++) {
        const path = paths.get(ends[next] as number) as Path;
        // Both go on to the same line: the one that is ahead now stays ahead.
        if (before === undefined || path.score >= before.score - gapCost(before.to, path.to))
          before = path;
      }
      const adjacent = paths.get(at);
      // Blank lines only count beside other equal ones.
      if (line === '' && adjacent === undefined) continue;
      const begun = startsFile ? -edgeCost(0, at, row) : 0;
      const jumped = before === undefined ? -Infinity : before.score - gapCost(before.to, at);
      const gained = Math.max(adjacent?.score ?? -Infinity, jumped);
      const previous = gained === adjacent?.score ? adjacent : before;
      const reached = { to: at + 1, last: row + 1, isLike };
      if (previous !== undefined && gained > begun) {
        const gap = { first: previous.last, last: row, from: previous.to, to: at };
        fresh.push({
          ...reached,
          from: previous.from,
          first: previous.first,
          score: gained + gain,
          gaps: previous.last === row ? previous.gaps : [...previous.gaps, gap],
          isStrong: isStrong || previous.isStrong,
          isLoose: previous.isLoose || isLike,
        });
      } else if (line !== '' && !isLike) {
        const score = begun + gain;
        fresh.push({ ...reached, from: at, first: row, score, gaps: [], isStrong, isLoose: false });
      }
    }
    for (const path of fresh)
      if (path.score > (paths.get(path.to)?.score ?? -Infinity)) paths.set(path.to, path);
    ends = [...paths.keys()].sort((a, b) => a - b);
  }
  const isEdge = startsFile || endsFile;
  const isPlace = ({ isStrong, isLike, last }: Path) =>
    !isLike && (isStrong || isEdge) && lines[last - 1] !== '';
  return [...paths.values()]
    .filter(isPlace)
    .map((path) =>
      endsFile
        ? { ...path, score: path.score - edgeCost(path.to, length, lines.length - path.last) }
        : path,
    )
    .sort((a, b) => b.score - a.score)
    .slice(0, EDIT_LIMITS.maxMergePlaces);
}

/** What it costs to delete the lines from one index to another. */
function costBetween(
  { lines: { length }, costs }: Ground,
  isMirrored: boolean,
  isKnown: boolean,
): (from: number, to: number) => number {
  // Where lines are only deleted, their number weighs little, and each further gap much.
  const [share, gap] = isKnown ? [0.125, 100] : [1, GAP_COST];
  return (from, to) => {
    const [first, last] = isMirrored ? [length - to, length - from] : [from, to];
    const cost = (costs[last] as number) - (costs[first] as number);
    return cost * share + (cost > 0.5 ? gap : 0);
  };
}

const GAP_COST = 2;
