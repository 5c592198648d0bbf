/** One turn with the model: asked, and shown while it streams. What becomes of it the runner decides. */
import { newCallId } from '../../shared/ids.ts';
import { ReplyDocuments } from '../reply/documents.ts';
import { type Answer, askModel } from '../upstream/gateway.ts';
import { type ModelEnv, resolveTarget } from '../upstream/models.ts';
import { requestFor } from './model-request.ts';
import type { Recorder } from './recorder.ts';
import type { Run } from './rows.ts';
import type { RunLog } from './run-log.ts';

export interface ModelTurn {
  readonly answer: Answer;
  /** Not ended yet: that is for an answer that is taken. */
  readonly documents: ReplyDocuments;
  /** Whether any follower may have seen any of it; if not, the turn can be asked again unnoticed. */
  readonly isShown: boolean;
}

export interface TurnDeps {
  readonly log: RunLog;
  readonly recorder: Recorder;
  /** Which models there are: read for each turn, for a deployment can change it. */
  readonly settings: ModelEnv;
  readonly newUuid: () => string;
}

/** The model that answers: the one asked for, or the fallback that the tape says has taken over. */
export function modelOf(run: Run, recorder: Recorder): string {
  return recorder.response?.model ?? run.request.model;
}

/**
 * Records the reply as it comes, and nothing once the signal has aborted; then it throws the signal's reason.
 * @throws {DrawbridgeError} when there is no way to the model any more.
 */
export async function streamTurn(
  run: Run,
  deps: TurnDeps,
  signal: AbortSignal,
): Promise<ModelTurn> {
  const { log, recorder, settings, newUuid } = deps;
  const model = modelOf(run, recorder);
  const target = resolveTarget(model, settings);
  const asked = { ...run, request: { ...run.request, model } };
  const { nextSequence } = recorder;
  const documents = new ReplyDocuments({
    nextSequence,
    newCallId: () => newCallId(newUuid()),
    withReasoning: run.request.withReasoning ?? false,
  });
  const answer = await askModel(
    target,
    requestFor(asked, log, target.takesImages),
    (parts) => {
      if (!signal.aborted) recorder.stream(documents.push(parts));
    },
    signal,
  );
  signal.throwIfAborted();
  return { answer, documents, isShown: recorder.nextSequence > nextSequence };
}
