/** Remembers what the servers of models refuse by their own words, so that it is not sent to them again. */

import { UPSTREAM_LIMITS } from '../limits.ts';
import type { ServerTarget } from '../models.ts';
import { bothOf, type Concession } from './concessions.ts';

/** For UPSTREAM_LIMITS.learnedMs, or until the settings of the model change. */
export class Learned {
  readonly #made = new Map<string, { readonly made: Concession; readonly untilMs: number }>();

  /** What requests to the target are sent with; undefined without anything. */
  of(target: ServerTarget, nowMs = Date.now()): Concession | undefined {
    const known = this.#made.get(keyOf(target));
    return known && nowMs < known.untilMs ? known.made : undefined;
  }

  /** `made` has led to an answer. */
  keep(target: ServerTarget, made: Concession, nowMs = Date.now()): void {
    const { maxKnownModels, learnedMs } = UPSTREAM_LIMITS;
    const key = keyOf(target);
    const known = this.of(target, nowMs);
    if (this.#made.size >= maxKnownModels) this.#made.clear();
    this.#made.set(key, { made: bothOf(known, made), untilMs: nowMs + learnedMs });
  }
}

function keyOf({ dialect, baseUrl, upstreamId, switches, maxOutputTokens }: ServerTarget): string {
  return JSON.stringify([dialect, baseUrl, upstreamId, switches, maxOutputTokens]);
}
