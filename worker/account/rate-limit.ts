/** Limits the rate of one account's requests, and of its runs, which cost most. */
import type { Context, MiddlewareHandler } from 'hono';
import { dayOf } from '../../shared/api/usage.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { DAY, SECOND } from '../../shared/units.ts';
import { logEvent } from '../health/log.ts';
import { metrics } from '../health/metrics.ts';
import { accountOf, directoryOf } from '../objects.ts';
import { networkOf } from '../people/network.ts';
import type { StoredKey } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import type { AppContext } from './caller.ts';
import { RATE_LIMITS } from './limits.ts';
import { TokenBuckets } from './token-bucket.ts';

const buckets = new TokenBuckets();

/** Runs after `authenticate`. Refuses with RATE_LIMITED, and `Retry-After` in whole seconds (RFC 9110, 10.2.3). */
export const limitRate: MiddlewareHandler<AppContext> = async (c, next) => {
  const { sub, app } = c.var.caller;
  const setting = c.env.RATE_LIMIT_REQUESTS_PER_MINUTE;
  const standard = numberIn(setting, RATE_LIMITS.requestsPerMinute);
  take(c, 'requests', sub, app?.key.terms.requestsPerMinute ?? standard);
  await next();
};

/** Counts a request that begins a run, within the app's terms too. @throws RATE_LIMITED, QUOTA_EXCEEDED */
export async function countRun(c: Context<AppContext>): Promise<void> {
  const { sub, app } = c.var.caller;
  const standard = numberIn(c.env.RATE_LIMIT_RUNS_PER_MINUTE, RATE_LIMITS.runsPerMinute);
  take(c, 'runs', sub, app?.key.terms.runsPerMinute ?? standard);
  if (!app) return;
  const { id, terms } = app.key;
  if (terms.appRunsPerMinute) take(c, 'runs', `app ${id}`, terms.appRunsPerMinute);
  const day = dayOf(Date.now());
  const { tokensPerDay, appTokensPerDay } = terms;
  if (tokensPerDay) {
    const spent = await reach<number>(() => accountOf(c.env, sub).spent(day));
    requireQuota('This user', spent, tokensPerDay);
  }
  if (appTokensPerDay) {
    const spent = await reach<number>(() => directoryOf(c.env).spent(id, day));
    requireQuota(`The app ${id}`, spent, appTokensPerDay);
  }
}

/** Counts a request for a token, all of one key together. @throws {DrawbridgeError} RATE_LIMITED */
export function limitKey(c: Context<AppContext>, { id }: StoredKey): void {
  take(c, 'requests', `tokens ${id}`, RATE_LIMITS.tokensPerMinute);
}

/** Counts a request without a token by its network, or by its `secret` where that is unknown. @throws RATE_LIMITED */
export function limitStranger(c: Context<AppContext>, secret: string): void {
  takeFor(c, networkOf(addressOf(c)) ?? secret, RATE_LIMITS.strangersPerMinute);
}

/** Counts a refusal for want of a valid token. Valid tokens are never counted here. @throws RATE_LIMITED */
export function limitRefused(c: Context<AppContext>): void {
  takeFor(c, `refused ${networkOf(addressOf(c)) ?? ''}`, RATE_LIMITS.refusedPerMinute);
}

/** Counts the beginning of a login, which a stranger can make, too. @throws {DrawbridgeError} RATE_LIMITED */
export function limitLogin(c: Context<AppContext>): void {
  const network = networkOf(addressOf(c));
  const { loginsPerMinute, strangersPerMinute } = RATE_LIMITS;
  takeFor(
    c,
    `login ${network ?? ''}`,
    network === undefined ? strangersPerMinute : loginsPerMinute,
  );
}

/** Logs no name: it may be a secret. */
function takeFor(c: Context<AppContext>, stranger: string, perMinute: number): void {
  take(c, 'requests', `stranger ${stranger}`, perMinute, 'stranger');
}

/**
 * The network address of the client. workerd itself says who is at the other end of the connection (`clientIp`); behind
 * a trusted proxy this is the proxy, which has added the client to the end of X-Forwarded-For. Cloudflare says it in a
 * header, which anyone can write elsewhere. Undefined for this machine itself: it may stand for any client of a proxy.
 */
export function addressOf({ env, req }: Context<AppContext>): string | undefined {
  const { cf } = req.raw;
  const { clientIp }: { clientIp?: unknown } = Object(cf);
  if (typeof clientIp !== 'string')
    return cf ? plainAddress(req.header('cf-connecting-ip')) : undefined;
  const forwarded = env.TRUST_PROXY ? req.header('x-forwarded-for')?.split(',').at(-1) : undefined;
  const address = plainAddress(forwarded) ?? plainAddress(clientIp);
  return address === undefined || LOOPBACK.test(address) ? undefined : address;
}

const LOOPBACK = /^(?:127\.|::1$)/;

/** Without brackets, port and zone, and IPv4 in its own form. Undefined for what is no address. */
function plainAddress(text = ''): string | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=[\d.]+$)/, '');
  return bare.length <= MAX_ADDRESS_CHARS && /^(?:[\d.]+|[\da-f:.]*:[\da-f:.]*)$/.test(bare)
    ? bare
    : undefined;
}

/** An IPv6 address. */
const MAX_ADDRESS_CHARS = 45;

/** A setting that is not a number counts as not set. */
function numberIn(setting: string | undefined, standard: number): number {
  return /^\d+$/.test(setting ?? '') ? Number(setting) : standard;
}

/** `perMinute` of 0 means no limit. */
function take(
  { var: { caller, trace } }: Context<AppContext>,
  kind: 'requests' | 'runs',
  whose: string,
  perMinute: number,
  logged = whose,
): void {
  if (perMinute === 0) return;
  const { waitMs, isNews } = buckets.take(`${kind} ${whose}`, perMinute, Date.now());
  if (waitMs === 0) return;
  metrics.rateLimited.add({ kind });
  if (isNews) logEvent('rate_limited', { trace, account: caller?.sub ?? logged, code: kind });
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  throw new DrawbridgeError(
    'RATE_LIMITED',
    `Too many requests: ${perMinute} a minute are allowed. Try again in ${retryAfterSeconds} s.`,
    { details: { retryAfterSeconds } },
  );
}

/** @throws {DrawbridgeError} QUOTA_EXCEEDED, with the seconds until the next day of UTC. */
function requireQuota(whose: string, spent: number, tokensPerDay: number): void {
  if (spent < tokensPerDay) return;
  const retryAfterSeconds = Math.ceil((DAY - (Date.now() % DAY)) / SECOND);
  throw new DrawbridgeError(
    'QUOTA_EXCEEDED',
    `${whose} has used the ${tokensPerDay} tokens of a day. The next day begins at midnight, UTC.`,
    { details: { retryAfterSeconds, spent, tokensPerDay } },
  );
}
