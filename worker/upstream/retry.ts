/** How long to wait before the next attempt. Pure: randomness comes in. */

import type { UpstreamError } from './errors.ts';
import { UPSTREAM_LIMITS } from './limits.ts';

/** Another attempt with the same model: how long the upstream asks to wait, or null where it does not say. */
export interface Retry {
  readonly afterMs: number | null;
}

/** Statuses worth another attempt, as the `openai` client retries them. */
export function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** An error reported inside a stream, by its status or, where a server says none, by its name. */
export function isPassing({ status, code, type }: UpstreamError): boolean {
  if (status !== null) return isRetryable(status);
  return [code, type].some((name) => name !== null && PASSING.has(name));
}

const PASSING: ReadonlySet<string> = new Set([
  'overloaded_error', // Anthropic
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'rate_limit_exceeded', // OpenAI
  'server_error',
]);

/** What the upstream asked for (RFC 9110, section 10.2.3, and OpenAI's header in milliseconds), or null. */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const millis = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  const header = headers.get('retry-after') ?? '';
  const seconds = Number.parseFloat(header);
  const waitMs = millis >= 0 ? millis : seconds >= 0 ? seconds * 1000 : Date.parse(header) - nowMs;
  return waitMs >= 0 ? Math.min(waitMs, UPSTREAM_LIMITS.maxRetryAfterMs) : null;
}

/** Exponential, with up to a quarter taken off; `random` is in [0, 1). */
export function retryDelayMs(failures: number, random: number): number {
  return UPSTREAM_LIMITS.backoffMs * 2 ** (failures - 1) * (1 - random / 4);
}
