/** Ends a request whose upstream has gone silent or takes too long. */
import { UPSTREAM_LIMITS } from './limits.ts';

/** Why the guard ended a request. */
type StallReason = 'silent' | 'too_slow';

/**
 * Aborts `signal` if the first data event takes longer than `firstByteMs`, a later one longer than `stallMs` and a
 * tick, the whole answer longer than `maxAnswerMs`, or if the caller's signal aborts. Comments do not count as data:
 * some servers send them for ever. Counts ticks, because the clock can be set during an answer.
 */
export class StallGuard {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #end: ReturnType<typeof setTimeout>;
  readonly #ticking: ReturnType<typeof setInterval>;
  /** Silent ticks until the upstream counts as stalled. */
  #left = FIRST_TICKS;
  #hasHeard = false;
  #verdict: StallReason | null = null;

  constructor(caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.#controller.signal]);
    this.#end = setTimeout(() => this.#abort('too_slow'), UPSTREAM_LIMITS.maxAnswerMs);
    this.#ticking = setInterval(() => this.#tick(), UPSTREAM_LIMITS.stallTickMs);
  }

  /** Null unless the guard itself ended the request. */
  get verdict(): StallReason | null {
    return this.#verdict;
  }

  /** To be called for each data event. Cheap: moves no timer. */
  heard(): void {
    this.#hasHeard = true;
  }

  /** To be called while a large request is sent: the upstream has its time from then on. */
  sent(): void {
    this.#left = FIRST_TICKS;
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

  #abort(verdict: StallReason): void {
    this.end();
    this.#verdict = verdict;
    this.#controller.abort(new Error(`the upstream is ${verdict}`));
  }
}

const FIRST_TICKS = Math.ceil(UPSTREAM_LIMITS.firstByteMs / UPSTREAM_LIMITS.stallTickMs);
const STALLED_TICKS = Math.ceil(UPSTREAM_LIMITS.stallMs / UPSTREAM_LIMITS.stallTickMs);
