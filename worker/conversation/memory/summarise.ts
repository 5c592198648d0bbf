/** Asks a model for the summary of what a new window leaves out. */

import {
  type ModelTarget,
  retryDelayMs,
  UPSTREAM_LIMITS,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../../packages/model/index.ts';
import type { Usage } from '../../../shared/wire/documents.ts';
import { askCounted } from '../../ask-model.ts';
import { TimeLimit } from '../../time-limit.ts';
import { sumUsage } from '../tape/spending.ts';
import { estimateUsage } from './estimate.ts';
import { WINDOW_LIMITS } from './window/limits.ts';

export interface SummaryAsk {
  readonly model: string;
  readonly target: ModelTarget;
  readonly request: UpstreamRequest;
}

/** What came of the requests for a summary. */
export interface Summary {
  /** The summary, which may be cut off; null without one. */
  readonly text: string | null;
  /** The last model that was asked; absent for the demo model. */
  readonly model?: string;
  /** The sum of all requests. */
  readonly usage: Usage | null;
  /** Set when the model server reported no tokens for it. */
  readonly isUnreported?: true;
  /** Set together with `isUnreported`. */
  readonly estimate?: Usage;
}

/** Asks one after the other until a summary comes; the text is null without one. @throws the signal's reason */
export async function askForSummary(
  asks: readonly (() => SummaryAsk)[],
  signal: AbortSignal,
): Promise<Summary> {
  let all: Summary = { text: null, usage: null };
  for (const ask of asks) {
    all = added(all, await askOne(ask(), signal));
    if (all.text !== null) break;
  }
  return all;
}

function added(before: Summary, next: Summary): Summary {
  const isUnreported = before.isUnreported ?? next.isUnreported;
  const estimate = sumUsage([before.estimate ?? null, next.estimate ?? null]);
  return {
    ...next,
    usage: sumUsage([before.usage, next.usage]),
    ...(isUnreported && { isUnreported }),
    ...(estimate && { estimate }),
  };
}

async function askOne(
  { model, target, request }: SummaryAsk,
  signal: AbortSignal,
): Promise<Summary> {
  const reply = target.kind === 'demo' ? null : await askInTime(target, request, signal);
  signal.throwIfAborted();
  const usage = reply?.usage ?? null;
  const isUnreported = target.kind !== 'demo' && usage === null;
  const estimated = isUnreported && {
    isUnreported,
    estimate: estimateUsage(request, reply, target),
  };
  const by = target.kind !== 'demo' && { model };
  return { text: summaryIn(reply), usage, ...by, ...estimated };
}

/** The reply; null after WINDOW_LIMITS.maxSummaryMs. */
async function askInTime(
  target: ModelTarget,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamReply | null> {
  using late = new TimeLimit(WINDOW_LIMITS.maxSummaryMs);
  try {
    return await askPatiently(target, request, AbortSignal.any([signal, late.signal]));
  } catch (cause) {
    if (late.signal.aborted) return null;
    throw cause;
  }
}

/** Retries after short waits: without the summary, the details are lost for good. */
async function askPatiently(
  target: ModelTarget,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  for (let attempts = 1; ; attempts++) {
    const { reply, retry } = await askCounted(target, request, () => undefined, signal);
    const waitMs = retry && (retry.afterMs ?? retryDelayMs(attempts, Math.random()));
    if (waitMs === null || waitMs > UPSTREAM_LIMITS.patienceMs) return reply;
    if (attempts === UPSTREAM_LIMITS.maxAttempts || summaryIn(reply) !== null) return reply;
    await scheduler.wait(waitMs, { signal });
  }
}

function summaryIn(reply: UpstreamReply | null): string | null {
  if (reply?.outcome !== 'completed' && reply?.outcome !== 'truncated') return null;
  return reply.text.trim() === '' ? null : reply.text;
}
