/** Lets web pages of the configured origins call the API from a browser. By default there are none. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { AppContext } from '../account/caller.ts';
import { knownKeys } from '../apps/known.ts';
import type { Env } from '../env.ts';

/** How long a browser may cache a preflight's answer. */
export const CORS_LIMITS = {
  /** Chromium's own maximum. */
  maxAgeSeconds: 7_200,
} as const;

/** CORS for ALLOWED_ORIGINS and the origins of apps. It only lets a page read answers: tokens are still needed. */
export const allowOrigins: MiddlewareHandler<AppContext> = async (c, next) => {
  const origin = c.req.header('origin');
  if (origin === undefined) return await next();
  const allowed = parseOrigins(c.env);
  return (await isAllowed(c.env, allowed, origin)) ? await handle([origin])(c, next) : await next();
};

async function isAllowed(env: Env, allowed: string[], origin: string): Promise<boolean> {
  if (allowed.includes(origin)) return true;
  return (await knownKeys(env)).some(({ terms }) => terms.origins.includes(origin));
}

function handle(origin: string[]): MiddlewareHandler {
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
