/** Decides whether another model may answer instead of one that failed, and which model. Pure. */

import { CONTEXT_LENGTH_EXCEEDED } from './context-overflow.ts';
import { UPSTREAM_LIMITS } from './limits.ts';
import { type ModelEnv, readTable } from './models.ts';
import type { UpstreamReply } from './reader.ts';
import { isRetryable, type Retry } from './retry.ts';

/** When to ask another model. `at_last`: after all attempts. `to_larger`: at once, with a larger window alone. */
export type Fallback = 'never' | 'at_last' | 'at_once' | 'to_larger';

/** Decides by the failure's class. `never`: another model would repeat it, or the operator must see it (a key). */
export function fallbackFor({ outcome, error }: UpstreamReply, retry: Retry | null): Fallback {
  if (outcome === 'error' && error) {
    const names = [error.code, error.type].filter((name) => name !== null);
    if (error.code === CONTEXT_LENGTH_EXCEEDED) return 'to_larger';
    if (names.some((name) => FILTERED.has(name))) return 'never';
    if (error.status !== null && ELSEWHERE.has(error.status)) return 'at_once';
    if (names.some((name) => ELSEWHERE_NAMES.has(name))) return 'at_once';
    if (retry && (retry.afterMs ?? 0) > UPSTREAM_LIMITS.patienceMs) return 'at_once';
    // The server wants a longer wait than anybody has.
    if (!retry && error.status !== null && isRetryable(error.status)) return 'at_once';
  }
  return retry ? 'at_last' : 'never';
}

const FILTERED: ReadonlySet<string> = new Set([
  'content_filter', // Azure
  'content_policy_violation', // OpenAI
]);

/** Unpaid, model not found, out of capacity, overloaded (Anthropic). */
const ELSEWHERE: ReadonlySet<number> = new Set([402, 404, 503, 529]);

/** Names of the same failures, from servers that send them under another status. */
const ELSEWHERE_NAMES: ReadonlySet<string> = new Set([
  'model_not_found',
  'insufficient_quota', // OpenAI, under 429
  'exceeded_current_quota_error', // Moonshot, under 429
  'billing_hard_limit_reached',
  'billing_not_active',
  'overloaded_error', // Anthropic, also inside a stream
]);

/** The request that needs another model. */
interface FallbackRequest {
  /** The model that was asked for. Its table entry lists the fallbacks. */
  readonly requested: string;
  /** The model that failed: `requested` or one of its fallbacks. */
  readonly failed: string;
  readonly holdsImages: boolean;
}

/** The next fallback that can answer, or null. Terminates: each fallback is asked at most once. */
export function nextModel(
  { requested, failed, holdsImages }: FallbackRequest,
  fallback: Fallback,
  env: ModelEnv,
): string | null {
  const table = readTable(env) ?? [];
  if (fallback === 'never') return null;
  const find = (name: string) => table.find(({ id }) => id === name);
  const names = [requested, ...(find(requested)?.fallbacks ?? [])];
  const place = names.indexOf(failed);
  if (place < 0) return null; // The table has changed since.
  const windowOfFailed = find(failed)?.contextWindow ?? Number.POSITIVE_INFINITY;
  const next = names.slice(place + 1).find((name) => {
    const entry = find(name);
    if (!entry || (holdsImages && !entry.takesImages)) return false;
    return fallback !== 'to_larger' || (entry.contextWindow ?? 0) > windowOfFailed;
  });
  return next ?? null;
}
