/** One turn with the model: asked, and shown while it streams. What becomes of it the runner decides. */
import { newCallId } from '../../../shared/ids.ts';
import { ReplyDocuments } from '../../reply/documents.ts';
import { type Answer, askModel } from '../../upstream/gateway.ts';
import { resolveTarget } from '../../upstream/models.ts';
import type { ReplyPart } from '../../upstream/reader.ts';
import type { UpstreamMessage, UpstreamRequest } from '../../upstream/request.ts';
import { requestFor } from '../memory/model-request.ts';
import type { Run } from '../store/rows.ts';
import type { Recorder } from '../tape/recorder.ts';
import type { RunDeps } from './run-deps.ts';

export interface ModelTurn {
  readonly answer: Answer;
  /** Not ended yet: that is for an answer that is taken. */
  readonly documents: ReplyDocuments;
  /** Whether any follower may have seen any of it; if not, the turn can be asked again unnoticed. */
  readonly isShown: boolean;
  /** What the model was told. */
  readonly request: UpstreamRequest;
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

/** The model that answers: the one asked for, or the fallback that the tape says has taken over. */
export function modelOf(run: Run, recorder: Recorder): string {
  return recorder.response?.model ?? run.request.model;
}

/** The run as if that model had been asked for. */
export function askedBy(run: Run, recorder: Recorder): Run {
  return { ...run, request: { ...run.request, model: modelOf(run, recorder) } };
}

/**
 * Records the reply as it comes, and nothing once it was cancelled; then it throws the signal's reason. `history` is what
 * was said, and fits the model.
 * @throws {DrawbridgeError} when there is no way to the model any more.
 */
export async function streamTurn(
  run: Run,
  history: readonly UpstreamMessage[],
  { recorder, settings, newUuid }: RunDeps,
  asking: Asking,
): Promise<ModelTurn> {
  const { signal } = asking;
  const asked = askedBy(run, recorder);
  const target = resolveTarget(asked.request.model, settings);
  const { nextSequence } = recorder;
  const documents = new ReplyDocuments({
    nextSequence,
    newCallId: () => newCallId(newUuid()),
    withReasoning: run.request.withReasoning ?? false,
  });
  const request = requestFor(asked, history);
  const show = (parts: readonly ReplyPart[]) => {
    if (signal.aborted) return;
    for (const part of parts) if (part.type === 'text') asking.said += part.text;
    recorder.stream(documents.push(parts));
  };
  const answer = await askModel(target, request, show, signal);
  signal.throwIfAborted();
  const isShown = recorder.nextSequence > nextSequence;
  return { answer, documents, isShown, request };
}
