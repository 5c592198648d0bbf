/** Gives every request a trace id, counts it, and measures it. */
import type { MiddlewareHandler } from 'hono';
import { newTraceId, TRACE_HEADER, traceIdIn } from '../../shared/wire/trace.ts';
import type { AppContext } from '../account/caller.ts';
import { metrics } from '../health/metrics.ts';

/** The first middleware: it sees every answer, also an error's. An upgrade to a WebSocket takes no more headers. */
export const observe: MiddlewareHandler<AppContext> = async (c, next) => {
  const startMs = Date.now();
  const trace = traceIdIn(c.req.header('traceparent')) ?? newTraceId(crypto.randomUUID());
  c.set('trace', trace);
  c.set('operation', 'other');
  await next();
  const { status } = c.res;
  if (status !== 101) c.header(TRACE_HEADER, trace);
  const { operation } = c.var;
  metrics.requests.add({ operation, status });
  metrics.requestSeconds.observe({ operation }, Date.now() - startMs);
};
