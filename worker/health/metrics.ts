/** What this isolate counts for `GET /metrics`. docs/observability.md explains each metric. */
import { countDamaged } from './damage.ts';
import { Counter, Gauge, Histogram } from './series.ts';

/** The content type of {@link formatMetrics}. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** From a quick answer of the edge to a slow one of a database. */
const QUICK = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;
/** From a small model's first token to a long command. */
const SLOW = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900] as const;

/** By the ids of their objects, which can sleep while they are connected. */
export const connectedTunnels = new Set<string>();

/** All metrics, in their order. */
export const metrics = {
  requests: new Counter('requests_total', 'Answered HTTP requests by operation and status.'),
  requestSeconds: new Histogram(
    'request_seconds',
    'Time until the headers of an answer were ready, by operation.',
    QUICK,
  ),
  rateLimited: new Counter('rate_limited_total', 'Requests refused because of the rate limits.'),
  runs: new Counter('runs_total', 'Ended runs by status.'),
  modelRequests: new Counter('model_requests_total', 'Requests to models by model and outcome.'),
  firstSeconds: new Histogram(
    'first_token_seconds',
    'Time from a request to a model to the first part of its answer, by model.',
    SLOW,
  ),
  turnSeconds: new Histogram(
    'turn_seconds',
    'Time from a request to a model to the end of its answer, by model.',
    SLOW,
  ),
  tokens: new Counter('tokens_total', 'Tokens that model servers reported, by model and kind.'),
  calls: new Counter('tool_calls_total', 'Settled tool calls by tool and status.'),
  callSeconds: new Histogram(
    'tool_call_seconds',
    'Time from a tool call to its result, waits for people included, by place of execution.',
    SLOW,
  ),
  errors: new Counter('errors_total', 'Errors by place and code.'),
  damaged: new Gauge(
    'damaged_objects',
    'Damaged objects that were met since the start.',
    countDamaged,
  ),
  bridges: new Gauge('bridges_connected', 'Connected bridges.', () => connectedTunnels.size),
} as const;

export function formatMetrics(): string {
  return Object.values(metrics)
    .map((metric) => metric.format())
    .join('');
}
