/** The time of one call: it starts anew with each progress, and stands still while a person is asked. */
import { MCP_LIMITS } from './limits.ts';

export class CallClock {
  /** Aborted when the call is cancelled, or its time is over. */
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #cancelled: AbortSignal;
  readonly #cancel: () => void;
  readonly #idleMs: number;
  #leftMs: number = MCP_LIMITS.maxCallMs;
  #startedMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #asking = 0;

  /** `idleMs` is the time without progress; the call as a whole has `maxCallMs`. `cancelled` ends the call. */
  constructor(idleMs: number, cancelled: AbortSignal) {
    this.#idleMs = idleMs;
    this.signal = this.#over.signal;
    this.#cancelled = cancelled;
    this.#cancel = () => this.#over.abort(cancelled.reason);
    cancelled.addEventListener('abort', this.#cancel, { once: true });
    if (cancelled.aborted) this.#cancel();
    this.#run();
  }

  /** Whether the call ended because its time was over. */
  get isOver(): boolean {
    return this.signal.aborted && !this.#cancelled.aborted;
  }

  /** The call has made progress. */
  restart(): void {
    if (this.#asking > 0) return;
    this.#stop();
    this.#run();
  }

  /** Stands still until the work is over. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#asking++ === 0) this.#stop();
    try {
      return await work();
    } finally {
      if (--this.#asking === 0) this.#run();
    }
  }

  /** The call is over. */
  end(): void {
    this.#asking = Number.POSITIVE_INFINITY;
    this.#cancelled.removeEventListener('abort', this.#cancel);
    this.#stop();
  }

  #run(): void {
    this.#startedMs = performance.now();
    const waitMs = Math.max(0, Math.min(this.#idleMs, this.#leftMs));
    this.#timer = setTimeout(() => this.#over.abort(), waitMs);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedMs;
  }
}
