/** `health` tells whether the service runs, `metrics` what it does. */
import type { Context } from 'hono';
import { Health } from '../../shared/answers.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { formatMetrics, METRICS_TYPE } from '../health/metrics.ts';
import type { AppContext } from '../people/caller.ts';
import { secretKey, unauthenticated } from '../people/secret.ts';

export const METRICS_LIMITS = {
  /** A token that nobody guesses. */
  minTokenChars: 16,
} as const;

/** The endpoints of this file. `/openapi.json` is in openapi/. */
export const SERVICE: readonly Endpoint[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Check whether the service runs',
    access: 'open',
    answers: [jsonAnswer(200, 'The service runs.', Health)],
    handle: async (c) => {
      await secretKey(c.env.AUTH_SECRET); // Throws NOT_CONFIGURED: nothing else works without AUTH_SECRET.
      return c.json({ status: 'ok' });
    },
  },
  {
    id: 'getMetrics',
    method: 'get',
    path: '/metrics',
    tag: 'Service',
    summary: 'Read what the service does, for Prometheus',
    description:
      'The text form 0.0.4, of the isolate that answers. Where METRICS_TOKEN is not set, there is nothing at this address.',
    access: 'metrics',
    answers: [{ status: 200, description: 'The metrics.', content: [{ type: 'text/plain' }] }],
    handle: async (c) => {
      await requireMetricsToken(c);
      return c.body(formatMetrics(), 200, {
        'content-type': METRICS_TYPE,
        'cache-control': 'no-store',
      });
    },
  },
];

async function requireMetricsToken({ env, req }: Context<AppContext>): Promise<void> {
  const { METRICS_TOKEN: wanted = '' } = env;
  if (wanted.length < METRICS_LIMITS.minTokenChars) {
    throw new DrawbridgeError('NOT_FOUND', 'There is nothing at this address');
  }
  const given = /^Bearer +(\S+)$/i.exec(req.header('authorization') ?? '')?.[1] ?? '';
  if (await isSame(given, wanted)) return;
  throw unauthenticated('Send the METRICS_TOKEN: Authorization: Bearer TOKEN');
}

/** Compares digests in constant time, so that an answer's time tells nothing of the token. */
async function isSame(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return crypto.subtle.timingSafeEqual(first, second);
}
