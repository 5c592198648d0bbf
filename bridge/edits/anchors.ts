/** Finds where a block's unchanged lines stand in the file. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { isUnitStart, likenessOf } from './likeness.ts';
import { INFORMATIVE_WEIGHT, weighLine } from './lines.ts';
import { windowsOf } from './occurrences.ts';

/** A place of a block, from its first to its last unchanged line: lines `from` up to but not including `to`. */
export interface Place {
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
  /** How often each line stands in the file. */
  readonly counts: ReadonlyMap<string, number>;
  /** The lines that begin a function, a class or another unit. */
  readonly units: ReadonlySet<string>;
  /** The cost of deleting all lines before an index. */
  readonly costs: Float64Array;
  /** Comparisons that are left for all blocks together. */
  left: number;
}

export function toGround(lines: readonly string[]): Ground {
  const counts = new Map<string, number>();
  const costs = new Float64Array(lines.length + 1);
  const units = new Set<string>();
  lines.forEach((line, at) => {
    const cost = costOf(line, lines[at + 1]);
    counts.set(line, (counts.get(line) ?? 0) + 1);
    costs[at + 1] = (costs[at] as number) + cost;
    if (cost === UNIT_COST) units.add(line);
  });
  return { lines, counts, units, costs, left: TOOL_LIMITS.maxComparedLines };
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
export function findPlaces(
  ground: Ground,
  { lines, startsFile, endsFile }: Sought,
): Place[] | null {
  const { length } = ground.lines;
  const gains = gainsOf(ground, lines);
  const versions = versionsOf(ground, lines, gains);
  const isKnown = gains.some((gain) => gain > KNOWN_GAIN);
  const costs = isKnown ? ground.costs.map((cost) => cost * KNOWN_COST) : ground.costs;
  const gap = isKnown ? KNOWN_GAP_COST : GAP_COST;
  for (const line of lines) {
    const count = ground.counts.get(line) ?? 0;
    if (count > 0) ground.left -= length + count * EQUAL_PAIR;
  }
  if (ground.left < 0) return null;
  const total = costs[length] as number;
  const isEdge = startsFile || endsFile;
  const forwards = align({
    file: ground.lines,
    costs,
    gap,
    lines,
    gains,
    versions,
    startsFile,
    isEdge,
  });
  const backwards = align({
    file: ground.lines.toReversed(),
    costs: costs.map((cost) => total - cost).reverse(),
    gap,
    lines: lines.toReversed(),
    gains: gains.toReversed(),
    versions: versions
      .map((each) => each && { ...each, at: each.at.map((index) => length - 1 - index) })
      .reverse(),
    startsFile: endsFile,
    isEdge,
  }).map(({ from, to, first, last, score, gaps, isLoose }) => ({
    from: length - to,
    to: length - from,
    first: lines.length - last,
    last: lines.length - first,
    score,
    gaps: gaps.map((gap) => ({
      first: lines.length - gap.last,
      last: lines.length - gap.first,
      from: length - gap.to,
      to: length - gap.from,
    })),
    isLoose,
  }));
  const places = new Map<string, Place>();
  const add = (place: Place, cost: number) => {
    const key = `${place.from} ${place.to}`;
    const score = place.score - cost;
    if (score > (places.get(key)?.score ?? 0)) places.set(key, { ...place, score });
  };
  for (const place of forwards)
    add(place, endsFile ? edgeCost(costs, gap, place.to, length, lines.length - place.last) : 0);
  for (const place of backwards)
    add(place, startsFile ? edgeCost(costs, gap, 0, place.from, place.first) : 0);
  const found = [...places.values()].sort((a, b) => b.score - a.score);
  // A better but impossible place can hide one that is as good as another: equal runs are all looked at.
  if (!startsFile && !endsFile)
    for (const place of found.slice(0, REPEATED_PLACES)) {
      if (place.gaps.length > 0 || place.to - place.from !== place.last - place.first) continue;
      const run = lines.slice(place.first, place.last);
      for (const from of windowsOf(ground.lines, run, TOOL_LIMITS.maxMergePlaces)) {
        const to = from + run.length;
        const known = places.get(`${from} ${to}`);
        if (known?.first !== place.first) found.push({ ...place, from, to });
      }
    }
  return found;
}

const REPEATED_PLACES = 5;

/** An equal pair takes as long as so many others. */
const EQUAL_PAIR = 60;

/** The weight of each line of a block that also stands in the file; 0 for a new line. */
function gainsOf({ counts }: Ground, lines: readonly string[]): number[] {
  const isStrong = (line: string) => weighLine(line) === INFORMATIVE_WEIGHT;
  // A block without a new line can only delete, so each of its lines must have its place.
  const isKnown = lines.every((line) => !isStrong(line) || counts.has(line));
  return lines.map((line) => {
    const count = counts.get(line) ?? 0;
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
  { lines: file, units }: Ground,
  lines: readonly string[],
  gains: readonly number[],
): (Versions | undefined)[] {
  const places = [...file.keys()].filter((at) => units.has(file[at] as string));
  return lines.map((line, row) => {
    if (gains[row] !== 0 || places.length * lines.length > MOST_PAIRS) return undefined;
    const likely = places.filter((at) => likenessOf(line, file[at] as string) === 'same');
    if (likely.length === 1) return { at: likely, isCertain: true };
    const at = places.filter((place) => likenessOf(line, file[place] as string) !== 'other');
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

function gapCost(costs: Float64Array, gap: number, from: number, to: number): number {
  const cost = (costs[to] as number) - (costs[from] as number);
  return cost > (gap === GAP_COST ? 0.5 : 0.05) ? cost + gap : cost;
}

const GAP_COST = 2;
const LINE_COST = 1.25;
const UNIT_COST = 16;

/** The cost of the lines up to an edge of the file, for which a block has `rows` lines. */
function edgeCost(
  costs: Float64Array,
  gap: number,
  from: number,
  to: number,
  rows: number,
): number {
  const cost = gapCost(costs, gap, from, to);
  return rows === 0 ? cost : Math.max(0, cost - gap - rows * LINE_COST);
}

/** Where lines are only deleted, their number weighs little, and each further gap much. */
const KNOWN_COST = 0.125;
const KNOWN_GAP_COST = 100;

interface Path extends Place {
  readonly isStrong: boolean;
  /** Whether its last line is another version of the file's. */
  readonly isLike: boolean;
}

/** For every line of the file where an alignment can end, the best one. */
function align({
  file,
  costs,
  gap,
  lines,
  gains,
  versions,
  startsFile,
  isEdge,
}: {
  readonly file: readonly string[];
  readonly costs: Float64Array;
  readonly gap: number;
  readonly lines: readonly string[];
  readonly gains: readonly number[];
  /** Where another version of a new line stands. */
  readonly versions: readonly (Versions | undefined)[];
  readonly startsFile: boolean;
  readonly isEdge: boolean;
}): Path[] {
  const paths: (Path | undefined)[] = new Array(file.length + 1);
  lines.forEach((line, row) => {
    const likes = versions[row];
    const gain =
      likes === undefined ? (gains[row] as number) : likes.isCertain ? REPEATED_GAIN : VERSION_GAIN;
    if (gain === 0) return;
    const isStrong = gain >= REPEATED_GAIN;
    const fresh: Path[] = [];
    let before: Path | undefined;
    for (let at = 0; at < file.length; at++) {
      // The costs up to two paths' ends tell which of them is better from here on.
      const ending = paths[at];
      if (
        ending !== undefined &&
        (before === undefined ||
          ending.score + (costs[at] as number) >= before.score + (costs[before.to] as number))
      )
        before = ending;
      if (likes === undefined ? file[at] !== line : !likes.at.includes(at)) continue;
      // Blank lines only count beside other equal ones.
      if (line === '' && ending === undefined) continue;
      const begun = startsFile ? -edgeCost(costs, gap, 0, at, row) : 0;
      const adjacent = ending === undefined ? Number.NEGATIVE_INFINITY : ending.score;
      const jumped =
        before === undefined
          ? Number.NEGATIVE_INFINITY
          : before.score - gapCost(costs, gap, before.to, at);
      const previous = adjacent >= jumped ? ending : before;
      const gained = Math.max(adjacent, jumped);
      const last = row + 1;
      const to = at + 1;
      const isLike = likes?.isCertain === false;
      if (previous !== undefined && gained > begun) {
        fresh.push({
          from: previous.from,
          to,
          first: previous.first,
          last,
          score: gained + gain,
          gaps:
            previous.last === row
              ? previous.gaps
              : [...previous.gaps, { first: previous.last, last: row, from: previous.to, to: at }],
          isStrong: isStrong || previous.isStrong,
          isLike,
          isLoose: previous.isLoose || isLike,
        });
      } else if (line !== '' && !isLike) {
        const score = begun + gain;
        fresh.push({
          from: at,
          to,
          first: row,
          last,
          score,
          gaps: [],
          isStrong,
          isLike,
          isLoose: false,
        });
      }
    }
    for (const path of fresh)
      if (path.score > (paths[path.to]?.score ?? Number.NEGATIVE_INFINITY)) paths[path.to] = path;
  });
  return paths
    .filter(
      (path): path is Path =>
        path !== undefined && !path.isLike && (path.isStrong || isEdge) && file[path.to - 1] !== '',
    )
    .sort((a, b) => b.score - a.score)
    .slice(0, TOOL_LIMITS.maxMergePlaces);
}
