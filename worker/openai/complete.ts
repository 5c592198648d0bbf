/** Turns a request in OpenAI's shape into a run, and the run into a completion. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { renderWords } from '../../shared/shown/markdown.ts';
import { SECOND } from '../../shared/units.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { type AppContext, senderOf } from '../account/caller.ts';
import { type Submitted, submitMessage } from '../desk/submit.ts';
import { cancelRun } from '../follow/cancel-run.ts';
import { foldAnswer } from '../follow/fold-answer.ts';
import { SSE_HEADERS } from '../follow/sse-writer.ts';
import { logEvent } from '../health/log.ts';
import { resolveModel } from '../upstream/models.ts';
import { endingOf, type Failure, LOST } from '../words/ending.ts';
import { type CompletionHead, newCompletion } from './completion.ts';
import { errorBody, failureOfRequest } from './errors.ts';
import { answerHeld, toResponse, type WholeAnswer } from './held-answer.ts';
import { type CompletionRequest, ignoredIn, toChatRequest } from './request.ts';
import { streamCompletion } from './stream.ts';

/** Answers with a `chat.completion`, with its chunks, or with an error. */
export async function complete(
  c: Context<AppContext>,
  request: CompletionRequest,
): Promise<Response> {
  const isKept = request.store === true;
  const submitted = await submitMessage(c.env, {
    ...senderOf(c),
    request: toChatRequest(request),
    ephemeral: !isKept,
    unasking: true,
  });
  const completing: Completing = {
    submitted,
    trace: c.var.trace,
    headers: headersOf(submitted, ignoredIn(request)),
    head: newHead(submitted, resolveModel(request.model, c.env)),
    // A client cannot come back to an answer that is not kept, so its run ends with the client.
    giveUp: isKept ? () => Promise.resolve() : () => cancelRun(c.env, submitted),
  };
  if (!request.stream) return await answerWhole(c, completing);
  try {
    return await answerStreamed(c, completing, request.stream_options?.include_usage === true);
  } catch (error) {
    if (failureOfRequest(error).status < 500) throw error;
    return toResponse(failed(lossOf(error, c.req.raw.signal, completing), completing));
  }
}

/** A run that becomes a completion. */
interface Completing {
  readonly submitted: Submitted;
  readonly trace: string;
  readonly head: CompletionHead;
  /** The headers of every answer, also of an error. */
  readonly headers: Readonly<Record<string, string>>;
  readonly giveUp: () => Promise<void>;
}

function newHead({ responseId }: Submitted, model: string): CompletionHead {
  const created = Math.floor(Date.now() / SECOND);
  return { id: `chatcmpl-${responseId.slice('chat_'.length)}`, created, model };
}

/**
 * Answers in one piece. {@link answerHeld} holds the headers back for a while, so that an early failure has its own
 * status. A client that has left ends the wait.
 */
async function answerWhole(c: Context<AppContext>, completing: Completing): Promise<Response> {
  const { submitted, giveUp } = completing;
  const gone = new AbortController();
  const signal = AbortSignal.any([c.req.raw.signal, gone.signal]);
  const answering = foldAnswer(signal, c.env, submitted, false);
  waitUntil(answering.then(() => undefined, giveUp));
  const whole = answering.then(
    (response) => toWhole(response, completing),
    (error) => failed(lossOf(error, signal, completing), completing),
  );
  return await answerHeld(whole, completing.headers, { gone, signal });
}

function toWhole(response: ChatResponse, completing: Completing): WholeAnswer {
  const ending = endingOf(response);
  if (ending.type === 'failed') return failed(ending.failure, completing);
  const words = renderWords(response.documents);
  const { model, usage } = response;
  const body = newCompletion({ ...completing.head, model }, words, ending.reason, usage);
  return { status: 200, body, headers: completing.headers };
}

/** The failure if the answer was lost without an error from the run. */
function lossOf(thrown: unknown, signal: AbortSignal, { submitted, trace }: Completing): Failure {
  const failure = failureOfRequest(thrown);
  if (failure.status < 500) return failure;
  const run = submitted.responseId;
  if (!signal.aborted) logEvent('completion_lost', { trace, run, error: thrown });
  return LOST.failure;
}

async function answerStreamed(
  c: Context<AppContext>,
  completing: Completing,
  withUsage: boolean,
): Promise<Response> {
  const { submitted, head, headers, giveUp } = completing;
  const opening = streamCompletion(c.req.raw, c.env, submitted, { head, withUsage, giveUp });
  waitUntil(opening.then(() => undefined, giveUp));
  const stream = await opening;
  if (!(stream instanceof ReadableStream)) return toResponse(failed(stream, completing));
  return new Response(stream, {
    headers: { ...headers, ...SSE_HEADERS },
  });
}

/** The client must not retry: the run has already repeated its requests to the model server. */
function failed(failure: Failure, { headers: known }: Completing): WholeAnswer {
  const headers = { ...known, 'x-should-retry': 'false' };
  return { status: failure.status, body: errorBody(failure), headers };
}

function headersOf(
  { caller, responseId }: Submitted,
  ignored: readonly string[],
): Record<string, string> {
  return {
    'Drawbridge-Conversation-Id': caller.conversationId,
    'Drawbridge-Response-Id': responseId,
    ...(ignored.length > 0 && { 'Drawbridge-Ignored-Fields': ignored.join(', ') }),
  };
}
