/** Counts requests in buckets that refill steadily. The clock is passed in. */
import { MINUTE } from '../../shared/units.ts';
import { RATE_LIMITS } from './limits.ts';

interface Bucket {
  tokens: number;
  atMs: number;
  /** When a refusal was last news. */
  newsMs: number;
}

/** Buckets by name, each with a minute's allowance, in this isolate's memory: counting costs no round trip. */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();

  /**
   * Takes one token, or returns the milliseconds until the next one. `perMinute` is at least 1. `isNews` is set for one
   * refusal a minute, so that a flood does not fill the log.
   */
  take(
    name: string,
    perMinute: number,
    nowMs: number,
  ): { readonly waitMs: number; readonly isNews: boolean } {
    const never = Number.NEGATIVE_INFINITY;
    const before = this.#buckets.get(name) ?? { tokens: perMinute, atMs: nowMs, newsMs: never };
    const perMs = perMinute / MINUTE;
    const refilled = before.tokens + Math.max(0, nowMs - before.atMs) * perMs;
    const tokens = Math.min(perMinute, refilled);
    const taken = tokens >= 1 ? 1 : 0;
    const isNews = taken === 0 && Math.abs(nowMs - before.newsMs) >= MINUTE;
    const newsMs = isNews ? nowMs : before.newsMs;
    this.#remember(name, { tokens: tokens - taken, atMs: nowMs, newsMs });
    return { waitMs: taken === 1 ? 0 : Math.ceil((1 - tokens) / perMs), isNews };
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
