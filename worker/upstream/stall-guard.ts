/** Notices an upstream that has gone silent, and ends the request. */
import { UPSTREAM_LIMITS } from '../../shared/limits.ts';

/**
 * Aborts its signal when the first data event does not come within `firstByteMs`, a later one not within `stallMs`, or
 * when the caller's signal aborts. Comments do not count as data: some servers send them for ever.
 */
export class StallGuard {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dataAtMs: number;
  #hasBegun = false;

  constructor(caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.#controller.signal]);
    this.#dataAtMs = Date.now() + UPSTREAM_LIMITS.firstByteMs - UPSTREAM_LIMITS.stallMs;
    this.#watch(UPSTREAM_LIMITS.firstByteMs);
  }

  /** Whether the request was ended for its silence. */
  get stalled(): boolean {
    return this.#controller.signal.aborted;
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
      const leftMs = this.#dataAtMs + UPSTREAM_LIMITS.stallMs - Date.now();
      if (leftMs > 0) this.#watch(leftMs);
      else this.#controller.abort(new Error('the upstream is silent'));
    }, delayMs);
  }
}
