/** The types that the rungs of the ladder share. */
import type { TextLine } from './lines.ts';
import type { Splice } from './splice.ts';

/** The equality that found a place, from the strictest on. */
export type Rung = 'exact' | 'line_ends' | 'trailing_space' | 'punctuation' | 'indentation';

/** The searched text, cut into lines once for all rungs. */
export interface Haystack {
  readonly text: string;
  readonly lines: readonly TextLine[];
}

/**
 * The places that equal the search, in order, at most `maxPlaces` plus one, with the change that the replacement makes.
 */
export type FindMatches = (there: Haystack, search: string, replacement: string) => Match[];

/** A place that fits. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /**
   * The change at the place; null where the new text cannot take the place's indentation. Worked out on demand: when
   * there are too many places, there is only their number.
   */
  readonly splice: () => Splice | null;
}

/**
 * Adapts new lines to a place whose lines equal the requested ones. `other` means that the place is not the one meant.
 * `unfit` means that it is, but the new lines do not fit it.
 */
export type AdaptLines = (
  there: readonly string[],
  asked: readonly string[],
  replacement: readonly string[],
) => readonly string[] | 'other' | 'unfit';
