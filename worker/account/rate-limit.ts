/** Limits the rate of one account's requests, and of its runs, which cost most. */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { DrawbridgeError } from '../../shared/errors.ts';
import { logEvent } from '../health/log.ts';
import { metrics } from '../health/metrics.ts';
import type { AppContext } from './caller.ts';
import { RATE_LIMITS } from './limits.ts';
import { TokenBuckets } from './token-bucket.ts';

const buckets = new TokenBuckets();

/** Runs after `authenticate`. Refuses with RATE_LIMITED, and `Retry-After` in whole seconds (RFC 9110, 10.2.3). */
export const limitRate = createMiddleware<AppContext>(async (c, next) => {
  const { RATE_LIMIT_REQUESTS_PER_MINUTE: requests } = c.env;
  take(c, 'requests', requests, RATE_LIMITS.requestsPerMinute);
  await next();
});

/** Counts a request that begins a run, in addition to {@link limitRate}. @throws {DrawbridgeError} RATE_LIMITED */
export function countRun(c: Context<AppContext>): void {
  const { RATE_LIMIT_RUNS_PER_MINUTE: runs } = c.env;
  take(c, 'runs', runs, RATE_LIMITS.runsPerMinute);
}

/** A setting of 0 means no limit. A setting that is not a number counts as not set. */
function take(
  { var: { caller, trace } }: Context<AppContext>,
  kind: 'requests' | 'runs',
  setting: string | undefined,
  standard: number,
): void {
  const perMinute = /^\d+$/.test(setting ?? '') ? Number(setting) : standard;
  if (perMinute === 0) return;
  const { waitMs } = buckets.take(`${kind} ${caller.sub}`, perMinute, Date.now());
  if (waitMs === 0) return;
  metrics.rateLimited.add({ kind });
  logEvent('rate_limited', { trace, account: caller.sub, code: kind });
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  throw new DrawbridgeError(
    'RATE_LIMITED',
    `Too many requests: ${perMinute} a minute are allowed. Try again in ${retryAfterSeconds} s.`,
    { details: { retryAfterSeconds } },
  );
}
