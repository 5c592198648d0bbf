/** Decides whether and how long to wait before the next attempt. Pure: randomness is passed in. */

import type { UpstreamError } from './errors.ts';
import { UPSTREAM_LIMITS } from './limits.ts';

/** Allows another attempt with the same model. `afterMs` is the wait that the upstream asks for, or null. */
export interface Retry {
  readonly afterMs: number | null;
}

/** Whether another attempt can succeed. The same statuses as in the `openai` client. */
export function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Whether an error inside a stream may pass. Decides by its status, or without one by its code and type. */
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

/** Whether the server refuses because of too many requests. */
export function isRateLimit(error: UpstreamError | null): boolean {
  return error?.status === 429 || [error?.code, error?.type].some((name) => RATE_LIMITS.has(name));
}

const RATE_LIMITS: ReadonlySet<string | null | undefined> = new Set([
  'rate_limit_error',
  'rate_limit_exceeded',
]);

/** The wait that the upstream asks for (`Retry-After`, or OpenAI's header), in milliseconds; null without one. */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const millis = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  const header = headers.get('retry-after') ?? '';
  const seconds = Number.parseFloat(header);
  const waitMs = millis >= 0 ? millis : seconds >= 0 ? seconds * 1000 : Date.parse(header) - nowMs;
  return waitMs >= 0 ? waitMs : null;
}

/** What may follow a refusal that can pass: another attempt, or none where the server wants a longer wait than anybody has. */
export function retryFor(error: UpstreamError | null, askedMs: number | null): Retry | null {
  if ([error?.code, error?.type].some((name) => SPENT.has(name))) return null;
  const afterMs = askedMs ?? error?.waitMs ?? null;
  return (afterMs ?? 0) > UPSTREAM_LIMITS.maxRetryAfterMs ? null : { afterMs };
}

/** The error of a wait that is too long, with its end. */
export function withEnd(error: UpstreamError, waitMs: number, nowMs: number): UpstreamError {
  const until = new Date(nowMs + Math.min(waitMs, UPSTREAM_LIMITS.maxShownWaitMs)).toISOString();
  return { ...error, message: `${error.message} It can be asked again at ${until}.` };
}

/** A quota that is used up. Another attempt would be refused as well. */
const SPENT: ReadonlySet<string | null | undefined> = new Set([
  'insufficient_quota', // OpenAI
  'exceeded_current_quota_error', // Moonshot
  'billing_hard_limit_reached',
  'billing_not_active',
]);

/** Exponential back-off, shortened by up to a quarter. `random` is in [0, 1). */
export function retryDelayMs(failures: number, random: number): number {
  return UPSTREAM_LIMITS.backoffMs * 2 ** (failures - 1) * (1 - random / 4);
}
