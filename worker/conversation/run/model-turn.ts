/** One request to the model: streams the reply to followers, and retries where followers have seen nothing. */

import {
  type AfterRefusal,
  CONTEXT_LENGTH_EXCEEDED,
  type Fallback,
  type GatewayAnswer,
  isRateLimit,
  nextModel,
  type ReplyPart,
  retryDelayMs,
  UPSTREAM_LIMITS,
  type UpstreamReply,
} from '../../../packages/model/index.ts';
import { imagesOf } from '../../../shared/api/requests.ts';
import { newCallId, responseIdOf } from '../../../shared/ids.ts';
import { SECOND } from '../../../shared/units.ts';
import { askCounted } from '../../ask-model.ts';
import { ReplyDocuments } from '../../reply/documents.ts';
import { logCalls } from '../calls/calls.ts';
import { toolboxOf } from '../log/offered-tools.ts';
import { modelOf, type PreparedTurn } from '../memory/prepare-turn.ts';
import type { NewTurn, Run } from '../store/rows.ts';
import { type ErrorReport, errorDocument } from '../tape/error-document.ts';
import { TAPE_LIMITS } from '../tape/limits.ts';
import { failureOf } from './failures.ts';
import type { RunDeps } from './run-deps.ts';

export interface ModelTurn {
  readonly answer: GatewayAnswer;
  /** The documents of the reply. Only the caller ends them, once it accepts the answer. */
  readonly documents: ReplyDocuments;
  /** Whether a follower may have seen part of the reply. If not, a retry goes unnoticed. */
  readonly isShown: boolean;
  /** The request that was sent. */
  readonly prepared: PreparedTurn;
}

/** A request to the model under way. */
export class TurnAsking {
  /** The model's text so far, without its calls. */
  said = '';
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller.abort(new Error('cancelled'));
  }

  /** The text that followers saw of the broken answer, as a turn, so that the model learns of it. */
  turnSoFar(
    note: string,
    { recorder, now }: Pick<RunDeps, 'recorder' | 'now'>,
  ): NewTurn | undefined {
    // Cut to the length of a row: a cancel must not fail because the text is too long.
    const said = this.said.slice(0, TAPE_LIMITS.maxRowChars).toWellFormed();
    if (!said) return undefined;
    const text = `${said}\n\n${note}`;
    const lastSequence = recorder.nextSequence - 1;
    const model = recorder.response?.model;
    return { text, reasoning: null, calls: [], model, usage: null, lastSequence, atMs: now() };
  }
}

/** Records the reply as it streams. Records nothing after a cancel, and then throws the signal's reason. */
export async function streamTurn(
  run: Run,
  prepared: PreparedTurn,
  { recorder, newUuid, watch }: RunDeps,
  asking: TurnAsking,
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
  const { target, request } = prepared;
  const answer = await watch.asked(run, { target, request }, (onPart) => {
    const onParts = (parts: readonly ReplyPart[]) => {
      onPart();
      show(parts);
    };
    return askCounted(target, request, onParts, signal);
  });
  signal.throwIfAborted();
  const isShown = recorder.nextSequence > nextSequence;
  return { answer, documents, isShown, prepared };
}

/** What may follow the answer: another form of the request, or nothing. A broken answer can be one that was too long. */
export function afterOf(
  { after }: GatewayAnswer,
  failure: ErrorReport | null,
): AfterRefusal | undefined {
  if (after) return after.type === 'shorten' || after.type === 'leave_out' ? after : undefined;
  return failure?.code === CONTEXT_LENGTH_EXCEEDED ? { type: 'shorten' } : undefined;
}

/**
 * The turn as the log stores it. Shows the end of its documents, which the next commit of this same step stores. `left`
 * says what the answer was made without.
 */
export function endTurn(
  run: Run,
  { answer, documents, prepared }: ModelTurn,
  left: ErrorReport | null,
  deps: RunDeps,
): NewTurn {
  const { recorder, now } = deps;
  const { reply, adjusted } = answer;
  const { events, calls } = documents.end(reply);
  recorder.stream(events);
  reportCut(run, prepared, reply, recorder);
  if (left) recorder.stream(errorDocument(recorder.nextSequence, left, run.request.trace));
  const logged = failureOf(reply) ? [] : logCalls(calls, prepared.usedIds(), toolboxOf(run));
  const { text, reasoning, reasoningDetails, usage } = reply;
  const lastSequence = recorder.nextSequence - 1;
  const estimate = run.request.budget && !usage ? prepared.estimate(reply) : undefined;
  const model = modelOf(run, recorder);
  const said = { text, reasoning, reasoningDetails, usage, lastSequence };
  return { ...said, model, estimate, adjusted, calls: logged, atMs: now() };
}

/** Reports a prompt that the server cut. Once per response: its later turns would be cut as well. */
function reportCut(
  { request: { trace } }: Run,
  prepared: PreparedTurn,
  { usage }: UpstreamReply,
  recorder: RunDeps['recorder'],
): void {
  const isReported = recorder.response?.documents.some(
    ({ metadata }) => metadata['errorCode'] === CONTEXT_LENGTH_EXCEEDED,
  );
  const report = isReported ? null : prepared.cutReport(usage);
  if (report) recorder.stream(errorDocument(recorder.nextSequence, report, trace));
}

/** Schedules another attempt for a turn that failed unseen, with the same or the next model; false without one. */
export function tryAgain(run: Run, answer: GatewayAnswer, deps: RunDeps): boolean {
  const { fallback } = answer;
  if (fallback !== 'at_last' && tryAnother(run, fallback, deps)) return true;
  if (tryLater(run, answer, deps)) return true;
  return fallback === 'at_last' && tryAnother(run, fallback, deps);
}

/** Switches to the next model, until the end of the run. The tape stores the switch. */
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

/** Stores the time of the next attempt: the object may sleep until then. Readers learn of a noticeable wait. */
function tryLater(run: Run, { retry, reply }: GatewayAnswer, deps: RunDeps): boolean {
  const { log, now, recorder, conversationId } = deps;
  const failures = run.failures + 1;
  if (!retry || failures >= UPSTREAM_LIMITS.maxAttempts) return false;
  const delayMs = retry.afterMs ?? retryDelayMs(failures, Math.random());
  const notBefore = Math.ceil(now() + delayMs);
  log.countFailure(run, failures, notBefore);
  if (delayMs < NOTICED_MS) return true;
  const reason = isRateLimit(reply.error) ? 'rate_limited' : 'unavailable';
  const wait = { reason, until: new Date(notBefore).toISOString() } as const;
  const responseId = responseIdOf(conversationId, run.ordinal);
  recorder.record([{ type: 'model_wait', responseId, wait }]);
  return true;
}

/** A wait that a person asks themselves about. */
const NOTICED_MS = SECOND;
