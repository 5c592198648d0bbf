/** What the rungs of the ladder have in common. */
import type { Line } from './lines.ts';
import type { Splice } from './splice.ts';

/** Which equality found a place, from the strictest on. */
export type Rung = 'exact' | 'line_ends' | 'trailing_space' | 'punctuation' | 'indentation';

/** The text that is searched, cut into lines once for all rungs. */
export interface Haystack {
  readonly text: string;
  readonly lines: readonly Line[];
}

/** The places that equal the search, from the start on, at most one more than `maxPlaces`; and how the replacement would go in. */
export type FindMatches = (there: Haystack, search: string, replacement: string) => Match[];

/** A place that fits. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /**
   * How it changes; null where the new text cannot take the place's indentation. Worked out only when it is asked for: of
   * places that are too many nothing but their number is told.
   */
  readonly splice: () => Splice | null;
}

/**
 * Adapts new lines to a place whose lines equal those asked for. `other` means that the place is not meant after all,
 * `unfit` that it is, but the new lines cannot follow it.
 */
export type AdaptLines = (
  there: readonly string[],
  asked: readonly string[],
  replacement: readonly string[],
) => readonly string[] | 'other' | 'unfit';
