/** Lets web pages of the configured origins call the API from a browser. By default there are none. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { DrawbridgeError } from '../../shared/errors.ts';
import { HOUR } from '../../shared/units.ts';
import type { AppContext } from '../account/caller.ts';
import { knownKeys } from '../apps/known.ts';
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { originOf } from '../origin.ts';

/** How long a browser may cache a preflight's answer. */
export const CORS_LIMITS = {
  /** Chromium's own maximum. */
  maxAgeSeconds: 7_200,
  /** Refused origins that an instance logs an hour: anyone can send any. */
  maxRefused: 20,
} as const;

/** CORS for ALLOWED_ORIGINS and the origins of apps. It only lets a page read answers: tokens are still needed. */
export const allowOrigins: MiddlewareHandler<AppContext> = async (c, next) => {
  const origin = c.req.header('origin');
  if (origin === undefined) return await next();
  const allowed = parseOrigins(c.env);
  if (await isAllowed(c.env, allowed, origin)) return await handle([origin])(c, next);
  // A proxy that ends TLS leaves its scheme out.
  if (URL.parse(origin)?.host !== URL.parse(originOf(c))?.host) logRefused(origin);
  if (c.req.header('access-control-request-method') === undefined) return await next();
  throw new DrawbridgeError(
    'FORBIDDEN',
    'Pages of this origin are not listed: add it to ALLOWED_ORIGINS, or to the key of its app',
  );
};

/** Origins that were logged since `sinceMs`. */
const refused = new Set<string>();
let sinceMs = 0;

/** One line an hour for an origin: its page may ask at any time. */
function logRefused(origin: string): void {
  const nowMs = Date.now();
  if (nowMs - sinceMs >= HOUR) {
    refused.clear();
    sinceMs = nowMs;
  }
  if (refused.has(origin) || refused.size >= CORS_LIMITS.maxRefused) return;
  refused.add(origin);
  logEvent('origin_refused', { message: origin });
}

async function isAllowed(env: Env, allowed: string[], origin: string): Promise<boolean> {
  if (allowed.includes(origin)) return true;
  return (await knownKeys(env)).some(({ terms }) => terms.origins.includes(origin));
}

function handle(origin: string[]): MiddlewareHandler {
  const answer = corsFor(origin);
  return async (c, next) => {
    // Browsers that ask before they let a page of the web reach a server of this machine or network.
    const isAsked = c.req.header('access-control-request-private-network') === 'true';
    const response = await answer(c, next);
    if (isAsked && response?.headers.has('access-control-allow-origin')) {
      response.headers.set('access-control-allow-private-network', 'true');
    }
    return response;
  };
}

function corsFor(origin: string[]): MiddlewareHandler {
  return cors({
    origin,
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Without allowHeaders, all headers that the preflight asks for are allowed. OpenAI clients send a dozen.
    exposeHeaders: [
      'drawbridge-conversation-id',
      'drawbridge-response-id',
      'drawbridge-trace-id',
      'drawbridge-ignored-fields',
      'content-disposition',
      'retry-after',
      'x-should-retry',
    ],
    maxAge: CORS_LIMITS.maxAgeSeconds,
  });
}

function parseOrigins({ ALLOWED_ORIGINS = '' }: Env): string[] {
  return ALLOWED_ORIGINS.split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}
