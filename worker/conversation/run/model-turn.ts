/** One turn with the model: asked, shown while it streams, asked again where nothing was shown. */
import { newCallId } from '../../../shared/ids.ts';
import { imagesOf } from '../../../shared/requests.ts';
import { ReplyDocuments } from '../../reply/documents.ts';
import { type Fallback, nextModel } from '../../upstream/fallback.ts';
import { type Answer, askModel } from '../../upstream/gateway.ts';
import { UPSTREAM_LIMITS } from '../../upstream/limits.ts';
import type { ReplyPart } from '../../upstream/reader.ts';
import { retryDelayMs } from '../../upstream/retry.ts';
import { modelOf, type PreparedTurn } from '../memory/prepare-turn.ts';
import { toolboxOf } from '../store/offered-tools.ts';
import type { Run } from '../store/rows.ts';
import type { RunDeps } from './run-deps.ts';

export interface ModelTurn {
  readonly answer: Answer;
  /** Not ended yet: that is for an answer that is taken. */
  readonly documents: ReplyDocuments;
  /** Whether any follower may have seen any of it; if not, the turn can be asked again unnoticed. */
  readonly isShown: boolean;
  /** What the model was told. */
  readonly prepared: PreparedTurn;
}

/** A request to the model under way. */
export class Asking {
  /** What the model has written so far, but for its calls. */
  said = '';
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller.abort(new Error('cancelled'));
  }
}

/** Records the reply as it comes, and nothing once it was cancelled; then it throws the signal's reason. */
export async function streamTurn(
  run: Run,
  prepared: PreparedTurn,
  { recorder, newUuid }: RunDeps,
  asking: Asking,
): Promise<ModelTurn> {
  const { signal } = asking;
  const { nextSequence } = recorder;
  const documents = new ReplyDocuments({
    nextSequence,
    newCallId: () => newCallId(newUuid()),
    withReasoning: run.request.withReasoning ?? false,
    toolbox: toolboxOf(run),
  });
  const show = (parts: readonly ReplyPart[]) => {
    if (signal.aborted) return;
    for (const part of parts) if (part.type === 'text') asking.said += part.text;
    recorder.stream(documents.push(parts));
  };
  const answer = await askModel(prepared.target, prepared.request, show, signal);
  signal.throwIfAborted();
  const isShown = recorder.nextSequence > nextSequence;
  return { answer, documents, isShown, prepared };
}

/**
 * A turn that failed before anything was shown, with the same model while it has attempts, or with the next
 * one; false when there is no other way.
 */
export function tryAgain(run: Run, { retry, fallback }: Answer, deps: RunDeps): boolean {
  if (fallback !== 'at_last' && tryAnother(run, fallback, deps)) return true;
  if (retry && tryLater(run, retry.afterMs, deps)) return true;
  return fallback === 'at_last' && tryAnother(run, fallback, deps);
}

/** On the tape, so that readers know it and no crash forgets it; it answers to the end of the run. */
function tryAnother(run: Run, fallback: Fallback, { log, recorder, settings }: RunDeps): boolean {
  const { model: requested, messages } = run.request;
  const said = [...messages, ...log.steers];
  const holdsImages = said.some(({ content }) => imagesOf(content).length > 0);
  const failed = modelOf(run, recorder);
  const model = nextModel({ requested, failed, holdsImages }, fallback, settings);
  if (model === null) return false;
  recorder.record([{ type: 'response_model', model }]);
  log.countFailure(run, 0, 0);
  return true;
}

/** Stored, because the object may sleep until then: what the upstream asked for holds for its next instance too. */
function tryLater(run: Run, afterMs: number | null, { log, now }: RunDeps): boolean {
  const failures = run.failures + 1;
  if (failures >= UPSTREAM_LIMITS.maxAttempts) return false;
  const delayMs = afterMs ?? retryDelayMs(failures, Math.random());
  log.countFailure(run, failures, Math.ceil(now() + delayMs));
  return true;
}
