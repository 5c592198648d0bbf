/** The contract of the parts of `npm run bench:page`. */
import type { CDPSession, Page } from 'playwright-core';
import type { Unit } from '../figure.ts';
import type { Side } from './side.ts';

/** One figure, and the most that is wanted of Drawbridge's page. */
export interface Wanted {
  readonly what: string;
  readonly unit: Unit;
  readonly max?: number;
}

/** A page that is signed in, in a browser of its own. */
export interface Tab {
  readonly page: Page;
  readonly devtools: CDPSession;
}

export interface Part {
  readonly figures: readonly Wanted[];
  /** What the measurement changes against real use; printed below the figures. */
  readonly note?: string;
  /** Resolves with the figures in their order; null where the page has no such thing. */
  measure(side: Side, tab: Tab): Promise<readonly (number | null)[]>;
}
