/** Notices an upstream that has gone silent, or comes to no end, and ends the request. */
import { UPSTREAM_LIMITS } from '../../shared/limits.ts';

/** Why a request was ended. */
export type Verdict = 'silent' | 'too_slow';

/**
 * Aborts its signal when the first data event does not come within `firstByteMs`, a later one not within `stallMs`, the
 * end not within `maxAnswerMs`, or when the caller's signal aborts. Comments do not count as data: some servers send them
 * for ever.
 */
export class StallGuard {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #endAtMs = Date.now() + UPSTREAM_LIMITS.maxAnswerMs;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dataAtMs: number;
  #hasBegun = false;
  #verdict: Verdict | null = null;

  constructor(caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.#controller.signal]);
    this.#dataAtMs = Date.now() + UPSTREAM_LIMITS.firstByteMs - UPSTREAM_LIMITS.stallMs;
    this.#watch(UPSTREAM_LIMITS.firstByteMs);
  }

  /** Why the guard itself ended the request; null if it did not. */
  get verdict(): Verdict | null {
    return this.#verdict;
  }

  /** Data has come. Cheap: after the first time the timer is not moved, it looks again when it fires. */
  heard(): void {
    this.#dataAtMs = Date.now();
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    clearTimeout(this.#timer);
    this.#watch(UPSTREAM_LIMITS.stallMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #watch(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const silentInMs = this.#dataAtMs + UPSTREAM_LIMITS.stallMs - Date.now();
      const overInMs = this.#endAtMs - Date.now();
      if (overInMs <= 0) this.#abort('too_slow');
      else if (silentInMs <= 0) this.#abort('silent');
      else this.#watch(Math.min(silentInMs, overInMs));
    }, delayMs);
  }

  #abort(verdict: Verdict): void {
    this.#verdict = verdict;
    this.#controller.abort(new Error(`the upstream is ${verdict}`));
  }
}
