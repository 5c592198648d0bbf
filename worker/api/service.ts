/** `health` shows whether the service runs, `metrics` what it does. */
import type { Context } from 'hono';
import { Health, StreamTest } from '../../shared/api/answers.ts';
import { LeftQuery, LeftReport } from '../../shared/api/left.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { METRICS_LIMITS } from '../../shared/limits.ts';
import type { AppContext } from '../account/caller.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { SSE_HEADERS, SseWriter } from '../follow/sse-writer.ts';
import { countDamaged } from '../health/damage.ts';
import { formatMetrics, METRICS_TYPE } from '../health/metrics.ts';
import { giveUpLeft } from '../left.ts';
import { runsOf } from '../objects.ts';
import { reach } from '../reach.ts';
import { secretKeys, unauthenticated } from '../secret.ts';

/** What {@link SERVICE}'s `testStream` sends; `drawbridge doctor` looks at when it arrives. */
const STREAM_TEST = { parts: 3, gapMs: 500 } as const;

const STREAM_TEST_EXAMPLES = {
  parts: { summary: 'The test', value: 'data: {"part":1,"of":3}\n\ndata: {"part":2,"of":3}\n\n' },
} as const;

/** The endpoints of this file. `/openapi.json` is in openapi/. */
export const SERVICE: readonly Endpoint[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Check whether the service runs',
    description:
      '`damaged` counts what could not be read when something asked for it, since the start.',
    access: 'open',
    answers: [jsonAnswer(200, 'The service runs.', Health)],
    handle: async (c) => {
      await secretKeys(c.env.AUTH_SECRET); // Throws NOT_CONFIGURED: nothing else works without AUTH_SECRET.
      return c.json({ status: 'ok', damaged: countDamaged() });
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
  {
    id: 'testStream',
    needs: 'read',
    method: 'get',
    path: '/health/stream',
    tag: 'Service',
    summary: 'Find out whether something on the way holds streams back',
    description:
      'Three events, half a second apart. Where they arrive together, a proxy in between buffers: streamed answers would stand still, and then come at once.',
    access: 'user',
    answers: [
      {
        status: 200,
        description: 'The stream, which ends after a second.',
        content: [
          { type: 'text/event-stream', events: StreamTest, examples: STREAM_TEST_EXAMPLES },
        ],
      },
    ],
    handle: (c) => {
      const writer = new SseWriter();
      c.executionCtx.waitUntil(writeStreamTest(writer, c.req.raw.signal));
      return new Response(writer.readable, { headers: SSE_HEADERS });
    },
  },
  {
    id: 'wakeRuns',
    method: 'post',
    path: '/api/v1/operator/runs/wake',
    tag: 'Service',
    summary: 'Go on with all responses in progress, after a start of the server',
    description: 'An own server calls it by itself. On Cloudflare it changes nothing.',
    access: 'operator',
    answers: [{ status: 204, description: 'Each was asked to go on.' }],
    handle: async (c) => {
      await reach<void>(async () => await runsOf(c.env)?.wake());
      return c.body(null, 204);
    },
  },
  {
    id: 'giveUpLeft',
    method: 'post',
    path: '/api/v1/operator/left',
    tag: 'Service',
    summary: 'Delete what deleted accounts have left behind, of these objects',
    description:
      'An own server calls it by itself, with the names of its files. Nothing of an account that lives is touched.',
    access: 'operator',
    body: { schema: LeftQuery, example: { conversations: ['0'.repeat(64)] } },
    answers: [jsonAnswer(200, 'How many are being deleted now.', LeftReport)],
    handle: async (c) => c.json(await giveUpLeft(c.env, await parseBody(c, LeftQuery))),
  },
];

/** Ends early if the reader leaves. */
async function writeStreamTest(writer: SseWriter, signal: AbortSignal): Promise<void> {
  const { parts, gapMs } = STREAM_TEST;
  for (let part = 1; part <= parts && !signal.aborted && !writer.isGone; part += 1) {
    if (part > 1) await scheduler.wait(gapMs);
    writer.write(`data: ${JSON.stringify({ part, of: parts })}\n\n`);
  }
  await writer.end(signal);
}

async function requireMetricsToken({ env, req }: Context<AppContext>): Promise<void> {
  const wanted = metricsTokens(env);
  if (wanted.length === 0) {
    throw new DrawbridgeError('NOT_FOUND', 'There is nothing at this address');
  }
  const given = /^Bearer +(\S+)$/i.exec(req.header('authorization') ?? '')?.[1] ?? '';
  const matches = await Promise.all(wanted.map((token) => isSame(given, token)));
  if (matches.includes(true)) return;
  throw unauthenticated('Send the METRICS_TOKEN: Authorization: Bearer TOKEN');
}

function metricsTokens({ METRICS_TOKEN = '' }: Env): string[] {
  const tokens = METRICS_TOKEN.split(/\s+/);
  return tokens.filter(({ length }) => length >= METRICS_LIMITS.minTokenChars);
}

/** Compares digests in constant time: the time of an answer shows nothing of the token. */
async function isSame(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return crypto.subtle.timingSafeEqual(first, second);
}
