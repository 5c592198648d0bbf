/** Before a model is asked: what it is told is made to fit it, where need be with a summary by itself. */
import { responseIdOf } from '../../../shared/ids.ts';
import { UPSTREAM_LIMITS, WINDOW_LIMITS } from '../../../shared/limits.ts';
import { askModel } from '../../upstream/gateway.ts';
import { type ModelTarget, resolveTarget } from '../../upstream/models.ts';
import type { UpstreamReply } from '../../upstream/reader.ts';
import type { UpstreamMessage, UpstreamRequest } from '../../upstream/request.ts';
import { retryDelayMs } from '../../upstream/retry.ts';
import { askedBy } from '../run/model-turn.ts';
import type { RunDeps } from '../run/run-deps.ts';
import type { NewWindow, Run } from '../store/rows.ts';
import { sizeOf } from './model-request.ts';
import type { History } from './transcript.ts';
import { digestOf } from './window/digest.ts';
import { isRoomy, planWindow, type SummariseWindow } from './window/plan.ts';
import { summaryRequest } from './window/summary-request.ts';
import { messagesIn, tellHistory } from './window/telling.ts';

export interface Fitting {
  readonly signal: AbortSignal;
  /** The model has refused what fitted by our estimate. */
  readonly isRefused: boolean;
}

/**
 * What the model is to be told now; null when it has refused that and nothing can be left out. A new window is stored,
 * and what was said stays as it is. A summary that fails costs its details and never the run.
 * @throws what the signal says once it has aborted, and then nothing was stored.
 */
export async function fitHistory(
  run: Run,
  deps: RunDeps,
  { signal, isRefused }: Fitting,
): Promise<readonly UpstreamMessage[] | null> {
  const { log, recorder, settings } = deps;
  const asked = askedBy(run, recorder);
  const target = resolveTarget(asked.request.model, settings);
  const size = sizeOf(asked, target);
  const told = log.told(run, size);
  if (!isRefused && isRoomy(told, size)) return messagesIn(told);
  const history = log.history(run);
  const plan = planWindow(history, size, { force: isRefused });
  if (plan.type === 'fits') return isRefused ? null : tellHistory(history, size);
  if (plan.type === 'prune') log.addWindow(run, plan.window);
  else await summarise({ run: asked, target, history, plan }, deps, signal);
  return tellHistory(log.history(run), size);
}

interface Summarising {
  readonly run: Run;
  readonly target: ModelTarget;
  readonly history: History;
  readonly plan: SummariseWindow;
}

/** Readers see that it is under way, and how it ended; the window is stored in the step that says so. */
async function summarise(work: Summarising, deps: RunDeps, signal: AbortSignal): Promise<void> {
  const { run, target, history, plan } = work;
  const { log, recorder, conversationId } = deps;
  const responseId = responseIdOf(conversationId, run.ordinal);
  recorder.record([{ type: 'context_summary', responseId, status: 'running' }]);
  const reply = await askForSummary(work, signal);
  signal.throwIfAborted();
  const summary = summaryIn(reply);
  const status = summary === null ? 'failed' : 'completed';
  recorder.record([{ type: 'context_summary', responseId, status }]);
  const digest = digestOf(history, plan, summary);
  const usage = reply?.usage ?? null;
  const isUnreported = target.kind !== 'demo' && usage === null;
  const unreported = isUnreported ? { isUnreported } : {};
  const window: NewWindow = { ...plan.window, digest, usage, ...unreported };
  log.addWindow(run, window);
}

/** Null when it took too long, and from the demo model, which plans and does not write. */
async function askForSummary(
  { run, target, history, plan }: Summarising,
  signal: AbortSignal,
): Promise<UpstreamReply | null> {
  if (target.kind === 'demo') return null;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('late')), WINDOW_LIMITS.maxSummaryMs);
  const request = summaryRequest(history, plan, run.request.model);
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

/** One that was cut off is good as far as it goes; null for one that was not given. */
function summaryIn(reply: UpstreamReply | null): string | null {
  if (reply?.outcome !== 'completed' && reply?.outcome !== 'truncated') return null;
  return reply.text.trim() === '' ? null : reply.text;
}
