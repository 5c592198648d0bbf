/** What an app returns from its own tools. */

import type { ResultImage } from '../wire/documents.ts';
import type { MessageContent } from './requests.ts';

/** What an app gives a run that waits for it. */
export interface GivenResults {
  /** By the documents of the calls. */
  readonly results: Readonly<Record<string, AppResult>>;
  /** What the model gets behind them. With any, the run goes on without the results that are missing. */
  readonly said: readonly MessageContent[];
}

/** A result as an app gives it: its text, and images for a model that takes them. */
export interface AppResult {
  readonly text: string;
  readonly images?: readonly ResultImage[] | undefined;
}
