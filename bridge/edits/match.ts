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

/** Every place that equals the search, from the start on, and how the replacement would go in there. */
export type FindMatches = (there: Haystack, search: string, replacement: string) => Match[];

/** A place that fits, and how it changes; `splice` is null where the new text cannot take the place's indentation. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly splice: Splice | null;
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
