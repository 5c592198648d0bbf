/** Lets web pages of the configured origins call the API from a browser. By default there are none. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { AppContext } from '../account/caller.ts';
import type { Env } from '../env.ts';

/** How long a browser may cache a preflight's answer. */
export const CORS_LIMITS = {
  /** Chromium's own maximum. */
  maxAgeSeconds: 7_200,
} as const;

/**
 * CORS (Fetch standard, section 3.3) for ALLOWED_ORIGINS. It only lets a page read answers: every request still needs
 * its token, and cookies do not count.
 */
export const allowOrigins: MiddlewareHandler<AppContext> = (c, next) => {
  const allowed = parseOrigins(c.env);
  return allowed.length === 0 ? next() : handle(allowed)(c, next);
};

function handle(origin: string[]): MiddlewareHandler {
  return cors({
    origin,
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Without allowHeaders, all headers that the preflight asks for are allowed. OpenAI clients send a dozen.
    exposeHeaders: [
      ...['drawbridge-conversation-id', 'drawbridge-response-id', 'drawbridge-trace-id'],
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
