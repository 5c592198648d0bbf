/** Puts candidates in the order in which they are tried. */
import type { Candidate } from './candidate.ts';
import type { Preference } from './variables.ts';

/** A candidate with what ranks it. */
export interface Ranked extends Candidate {
  /** When its source was written, in milliseconds since 1970; 0 for a variable. */
  readonly changedMs: number;
  /** Characters of its longest folder that holds the workspace; 0 where it names no folder. */
  readonly rootChars: number;
}

export interface RankFacts extends Preference {
  /** Nearest first. */
  readonly ancestors: readonly number[];
  readonly isAlive: (pid: number) => boolean;
}

/**
 * Best first: the owner's choice, the window of this shell, an editor that is an ancestor (the nearer, the better), the
 * longest folder around the workspace, a process that lives, the newest source.
 */
export function rank(candidates: readonly Ranked[], known: RankFacts): Ranked[] {
  const merits = new Map(candidates.map((candidate) => [candidate, meritsOf(candidate, known)]));
  return candidates.toSorted((a, b) => compare(merits.get(b) ?? [], merits.get(a) ?? []));
}

function meritsOf(
  { port, pid, rootChars, changedMs }: Ranked,
  known: RankFacts,
): readonly number[] {
  const generation = pid === undefined ? -1 : known.ancestors.indexOf(pid);
  return [
    Number(port === known.chosenPort),
    Number(pid !== undefined && pid === known.chosenPid),
    Number(known.shellPorts.has(port)),
    generation < 0 ? Number.NEGATIVE_INFINITY : -generation,
    rootChars,
    Number(pid !== undefined && known.isAlive(pid)),
    changedMs,
  ];
}

/** By the first number that differs. */
function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((merit, index) => merit !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) > (other[at] ?? 0) ? 1 : -1;
}
