/** Finds in a merge what the edit can hardly mean. */
import { countOf, type Ground } from './anchors.ts';
import type { PlacedBlock } from './blocks.ts';
import { indentOf, isCloser, isInformative, isLeaving, likenessOf } from './likeness.ts';

/** The block that makes an unchanged line of the file belong to another unit than before. */
export function findTorn(
  { lines: file }: Ground,
  placed: readonly PlacedBlock[],
): PlacedBlock | undefined {
  // New lines have the index -2: it is no owner's.
  const merged: { line: string; at: number; placed: PlacedBlock | undefined }[] = [];
  let at = 0;
  const copyTo = (end: number) => {
    for (; at < end; at++) merged.push({ line: file[at] as string, at, placed: undefined });
  };
  for (const place of placed) {
    copyTo(place.from);
    for (const line of place.block.texts) merged.push({ line, at: -2, placed: place });
    at = place.to;
  }
  copyTo(file.length);
  const texts = new Map(placed.map((place) => [place, new Set(place.block.texts)]));
  const before = ownersOf(file);
  const after = ownersOf(merged.map(({ line }) => line));
  const heads = headsOf(file);
  let previous: (typeof merged)[number] | undefined;
  for (const [index, row] of merged.entries()) {
    const owner = merged[after[index] as number];
    const beside = row.placed ?? previous?.placed;
    if (beside !== undefined && owner !== undefined && owner === previous)
      if (closesNothing(row.line, owner.line)) return beside;
    if (row.line !== '') previous = row;
    const next = merged.slice(index + 1, index + 1 + LAYOUT).find(({ line }) => line !== '');
    if (next !== undefined && next.placed !== row.placed) {
      const place = row.placed ?? next.placed;
      const isKnown = next.at > 0 && above(file, next.at) === row.line;
      if (!isKnown && isBrokenSeam(row.line, next.line, heads)) return place;
      if (row.placed !== undefined && isBareHead(row.line, next.line) && !file.includes(row.line))
        return place;
    }
    if (row.placed !== undefined || row.line === '') continue;
    const old = before[row.at] as number;
    if (owner?.at === old || (owner === undefined && old < 0)) continue;
    const taker = placed.find(({ from, to }) => from <= old && old < to);
    const isReplaced = taker !== undefined && !texts.get(taker)?.has(file[old] as string);
    const isSame = owner !== undefined && owner.placed === taker && owner.line === file[old];
    if (taker !== undefined && owner?.placed === taker && (isSame || isReplaced)) continue;
    const last = placed.findLast(({ from }) => from <= row.at);
    return taker ?? owner?.placed ?? last ?? placed[0];
  }
  return undefined;
}

/** Blank lines that may stand below a head. */
const LAYOUT = 4;

/** Whether a line closes a unit, and the line before it at the same depth opens none. A tag also closes text beside it. */
function closesNothing(line: string, before: string): boolean {
  const closes = CLOSER.test(line) && !line.trim().startsWith('<');
  return closes && !OPENER.test(before) && !BRACE.test(before);
}

/** Lines whose unit begins with a brace on a line of its own below them. */
function headsOf(file: readonly string[]): Set<string> {
  return new Set(file.flatMap((line, at) => (BRACE.test(line) ? [above(file, at)] : [])));
}

/** The nearest line above that is not blank. */
function above(file: readonly string[], at: number): string {
  return file.slice(Math.max(0, at - LAYOUT), at).findLast((line) => line !== '') ?? '';
}

/**
 * Whether two lines, one of them new beside the other, cannot follow each other: a unit closes twice, a body has no head
 * or a head no body, or code stands behind a line that leaves.
 */
function isBrokenSeam(line: string, next: string, heads: ReadonlySet<string>): boolean {
  const isDeeper = indentOf(next) >= indentOf(line);
  return (
    (CLOSER.test(line) && line === next) ||
    (BRACE.test(next) && isCloser(line)) ||
    (heads.has(line) && !BRACE.test(next)) ||
    (isLeaving(line) && isDeeper && !CONTINUED.test(line) && !CLOSER.test(next)) ||
    (line.endsWith(';') && indentOf(next) > indentOf(line))
  );
}

/** Whether a line opens a unit, and the next one is not in it: then it doubles the head that is there. */
function isBareHead(line: string, next: string): boolean {
  return OPENER.test(line) && !CLOSER.test(next) && indentOf(next) <= indentOf(line);
}

/** Whether a block begins and ends where the file has its lines up to the first, and from the last, that stand there once. */
export function isTight(ground: Ground, { block, from, to }: PlacedBlock): boolean {
  const lines = block.texts;
  const isOnce = (line: string) =>
    isInformative(line) &&
    countOf(ground, line) === 1 &&
    lines.indexOf(line) === lines.lastIndexOf(line);
  const placeOf = (line: string) => ground.places.get(line)?.[0] ?? -1;
  const first = lines.findIndex(isOnce);
  if (first < 0) return true;
  const last = lines.findLastIndex(isOnce);
  const start = placeOf(lines[first] as string) - first;
  const end = placeOf(lines[last] as string) + lines.length - last;
  const isAt = (at: number, run: readonly string[]) =>
    run.every((line, index) => ground.lines[at + index] === line);
  return (
    (start === from || !isAt(start, lines.slice(0, first))) &&
    (end === to || !isAt(end - lines.length + last, lines.slice(last)))
  );
}

/** Whether a unit of the file goes for lines of another one, or lines go up to a closing line whose head is not shown. */
export function losesUnit(
  { lines: file, units }: Ground,
  { block, from, to }: PlacedBlock,
): boolean {
  const lines = block.texts.filter((line) => line !== '');
  const there = file.slice(from, to).filter((line) => line !== '');
  const [kept, known] = [new Set(lines), new Set(there)];
  const gone = there.filter((line) => isInformative(line) && !kept.has(line));
  const fresh = lines.filter((line) => isInformative(line) && !known.has(line));
  if (gone.length < 2 || fresh.length === 0) return false;
  const heads = headsOf(there);
  const isHeadless = isCloser(lines.at(-1) as string) && ownersOf(lines).at(-1) === -1;
  const isShorter = gone.length > fresh.length;
  // A renamed unit keeps most of its lines. Else the edit may have meant a new unit beside the old one.
  const isOther = isShorter || gone.length * 2 >= there.filter(isInformative).length;
  return (
    (isHeadless && !block.endsFile && isShorter && lines.at(-2) !== there.at(-2)) ||
    gone.some(
      (line) =>
        (units.has(line) || heads.has(line)) &&
        (isOther || !fresh.some((other) => likenessOf(other, line) !== 'other')),
    )
  );
}

/**
 * For each line the index of its head: the nearest line above with less indentation, for a line that closes or continues
 * a unit the line that opened it. -1 where there is none.
 */
function ownersOf(lines: readonly string[]): number[] {
  const open: { at: number; depth: number }[] = [];
  return lines.map((line, at) => {
    if (line === '') return -1;
    const depth = HEADER.test(line) ? -1 : indentOf(line);
    while (open.length > 0 && (open.at(-1)?.depth ?? 0) > depth) open.pop();
    const beside = open.at(-1)?.depth === depth ? open.pop() : undefined;
    const owner = CLOSER.test(line) ? beside : open.at(-1);
    open.push({ at, depth });
    return owner?.at ?? -1;
  });
}

/** A header of TOML, INI or Markdown and a stage of a Dockerfile own lines that stand no deeper. */
const HEADER = /^(?:\[[^\],]+\]{1,2}$|#{2,6} \S|FROM \S)/;
const BRACE = /^\s*\{$/;
/** A statement that goes on in the next line. */
const CONTINUED = /[{([,:=+|&?.\\]$/;
const OPENER = /(?:[{([:]|\b(?:do|then))$/;
const CLOSER =
  /^\s*(?:[\])}]|<\/|(?:end|fi|done|esac|else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b)/;
