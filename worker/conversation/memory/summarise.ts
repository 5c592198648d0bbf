/** Asking a model for the summary of what it is not told word for word any more. */
import type { Usage } from '../../../shared/documents.ts';
import { askModel } from '../../upstream/gateway.ts';
import { UPSTREAM_LIMITS } from '../../upstream/limits.ts';
import type { ModelTarget } from '../../upstream/models.ts';
import type { UpstreamReply } from '../../upstream/reader.ts';
import type { UpstreamRequest } from '../../upstream/request.ts';
import { retryDelayMs } from '../../upstream/retry.ts';
import { WINDOW_LIMITS } from './window/limits.ts';

/** What a model answered a request for a summary. */
export interface Summary {
  /** One that was cut off is good as far as it goes; null for one that was not given. */
  readonly text: string | null;
  readonly usage: Usage | null;
  /** The model server reported no tokens for it. */
  readonly isUnreported?: true;
}

/**
 * Its text is null when it took too long or failed, and from the demo model, which plans and does not write.
 * @throws what the signal says once it has aborted.
 */
export async function askForSummary(
  target: ModelTarget,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Summary> {
  const reply = target.kind === 'demo' ? null : await askInTime(target, request, signal);
  signal.throwIfAborted();
  const usage = reply?.usage ?? null;
  const isUnreported = target.kind !== 'demo' && usage === null;
  return { text: summaryIn(reply), usage, ...(isUnreported && { isUnreported }) };
}

/** Null when it took too long. */
async function askInTime(
  target: ModelTarget,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamReply | null> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('late')), WINDOW_LIMITS.maxSummaryMs);
  try {
    return await askPatiently(target, request, AbortSignal.any([signal, late.signal]));
  } catch (cause) {
    if (late.signal.aborted) return null;
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

/** Passing failures are waited out as long as they are short: without the summary the details are lost for good. */
async function askPatiently(
  target: ModelTarget,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  for (let attempts = 1; ; attempts++) {
    const { reply, retry } = await askModel(target, request, () => undefined, signal);
    const waitMs = retry && (retry.afterMs ?? retryDelayMs(attempts, Math.random()));
    if (waitMs === null || waitMs > UPSTREAM_LIMITS.patienceMs) return reply;
    if (attempts === UPSTREAM_LIMITS.maxAttempts || summaryIn(reply) !== null) return reply;
    await wait(waitMs, signal);
  }
}

/** @throws what the signal says, as soon as it has aborted. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

function summaryIn(reply: UpstreamReply | null): string | null {
  if (reply?.outcome !== 'completed' && reply?.outcome !== 'truncated') return null;
  return reply.text.trim() === '' ? null : reply.text;
}
