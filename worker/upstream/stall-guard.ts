/** Notices an upstream that has gone silent, or comes to no end, and ends the request. */
import { UPSTREAM_LIMITS } from './limits.ts';

/** Why a request was ended. */
export type Verdict = 'silent' | 'too_slow';

/**
 * Aborts its signal when the first data event does not come within `firstByteMs`, a later one not within `stallMs` and a
 * tick, the end not within `maxAnswerMs`, or when the caller's signal aborts. Comments do not count as data: some servers
 * send them for ever. Counts ticks instead of reading the clock, which can be set while an answer comes.
 */
export class StallGuard {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #end: ReturnType<typeof setTimeout>;
  readonly #ticking: ReturnType<typeof setInterval>;
  /** Silent ticks until the upstream counts as stalled. */
  #left = Math.ceil(UPSTREAM_LIMITS.firstByteMs / UPSTREAM_LIMITS.stallTickMs);
  #hasHeard = false;
  #verdict: Verdict | null = null;

  constructor(caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.#controller.signal]);
    this.#end = setTimeout(() => this.#abort('too_slow'), UPSTREAM_LIMITS.maxAnswerMs);
    this.#ticking = setInterval(() => this.#tick(), UPSTREAM_LIMITS.stallTickMs);
  }

  /** Why the guard itself ended the request; null if it did not. */
  get verdict(): Verdict | null {
    return this.#verdict;
  }

  /** Data has come. Cheap: no timer is moved. */
  heard(): void {
    this.#hasHeard = true;
  }

  end(): void {
    clearTimeout(this.#end);
    clearInterval(this.#ticking);
  }

  #tick(): void {
    if (this.#hasHeard) this.#left = STALLED_TICKS;
    else this.#left -= 1;
    this.#hasHeard = false;
    if (this.#left === 0) this.#abort('silent');
  }

  #abort(verdict: Verdict): void {
    this.end();
    this.#verdict = verdict;
    this.#controller.abort(new Error(`the upstream is ${verdict}`));
  }
}

const STALLED_TICKS = Math.ceil(UPSTREAM_LIMITS.stallMs / UPSTREAM_LIMITS.stallTickMs);
