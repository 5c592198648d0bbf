/** Counts requests in buckets that refill steadily. The clock is passed in. */
import { MINUTE } from '../../shared/units.ts';
import { RATE_LIMITS } from './limits.ts';

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Buckets by name, each with a minute's allowance, in this isolate's memory: counting costs no round trip. */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();

  /** Takes one token, or returns the milliseconds until the next one. `perMinute` is at least 1. */
  take(name: string, perMinute: number, nowMs: number): { readonly waitMs: number } {
    const before = this.#buckets.get(name) ?? { tokens: perMinute, atMs: nowMs };
    const perMs = perMinute / MINUTE;
    const refilled = before.tokens + Math.max(0, nowMs - before.atMs) * perMs;
    const tokens = Math.min(perMinute, refilled);
    const taken = tokens >= 1 ? 1 : 0;
    this.#remember(name, { tokens: tokens - taken, atMs: nowMs });
    return { waitMs: taken === 1 ? 0 : Math.ceil((1 - tokens) / perMs) };
  }

  /** Deletes the least recently used bucket first. It is nearly always full again. */
  #remember(name: string, bucket: Bucket): void {
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size > RATE_LIMITS.maxBuckets) {
      this.#buckets.delete(oldest);
    }
  }
}
