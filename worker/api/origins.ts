/** Which web pages may call the API from a browser: the origins that are configured, and by default none. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { Env } from '../env.ts';
import type { AppContext } from '../people/caller.ts';

/** What browsers may keep of an answer about origins. */
export const CORS_LIMITS = {
  /** Chromium keeps no longer either. */
  maxAgeSeconds: 7_200,
} as const;

/**
 * CORS (Fetch standard, section 3.3) for ALLOWED_ORIGINS. It lets a page read answers; it lets nobody in: every request
 * needs its token all the same, and no cookie counts.
 */
export const allowOrigins: MiddlewareHandler<AppContext> = (c, next) => {
  const allowed = parseOrigins(c.env);
  return allowed.length === 0 ? next() : handle(allowed)(c, next);
};

function handle(origin: string[]): MiddlewareHandler {
  return cors({
    origin,
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // No allowHeaders: what the preflight asks for is allowed. OpenAI clients send a dozen of their own.
    exposeHeaders: [
      ...['drawbridge-conversation-id', 'drawbridge-response-id'],
      'drawbridge-ignored-fields',
      ...['content-disposition', 'retry-after', 'x-should-retry'],
    ],
    maxAge: CORS_LIMITS.maxAgeSeconds,
  });
}

function parseOrigins({ ALLOWED_ORIGINS = '' }: Env): string[] {
  return ALLOWED_ORIGINS.split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}
