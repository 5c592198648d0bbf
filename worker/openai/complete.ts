/** From a request of OpenAI's shape to a run, and from the run to its completion. */
import type { Context } from 'hono';
import { parseResponseId } from '../../shared/ids.ts';
import { FOLLOW_LIMITS } from '../../shared/limits.ts';
import { conversationOf } from '../api/conversation.ts';
import { type Submitted, submitMessage } from '../desk/submit.ts';
import type { Env } from '../env.ts';
import { foldAnswer } from '../follow/fold-answer.ts';
import { SSE_HEADERS } from '../follow/sse-writer.ts';
import type { AppContext } from '../people/caller.ts';
import { resolveModel } from '../upstream/models.ts';
import { type CompletionHead, newCompletion } from './completion.ts';
import { endingOf, type Failure, failureOfRequest, LOST } from './errors.ts';
import { renderWords } from './markdown.ts';
import { type CompletionRequest, toChatRequest } from './request.ts';
import { streamCompletion } from './stream.ts';

/** Answers with a `chat.completion`, with its chunks, or with why there is none. */
export async function complete(
  c: Context<AppContext>,
  request: CompletionRequest,
): Promise<Response> {
  const isKept = request.store === true;
  const submitted = await submitMessage(c.env, {
    account: c.var.caller.sub,
    request: toChatRequest(request),
    ephemeral: !isKept,
  });
  const completing: Completing = {
    submitted,
    head: newHead(submitted, resolveModel(request.model, c.env)),
    // Nobody can come back to an answer that is not kept: without its client its run is for nothing.
    giveUp: isKept ? () => Promise.resolve() : () => cancelRun(c.env, submitted),
  };
  try {
    return request.stream
      ? await answerStreamed(c, completing, request.stream_options?.include_usage === true)
      : await answerWhole(c, completing);
  } catch (error) {
    if (failureOfRequest(error).status < 500) throw error;
    if (!c.req.raw.signal.aborted) console.error('completion lost', error);
    return toFailureResponse(LOST.failure, submitted);
  }
}

/** A run that was begun, on its way to become a completion. */
interface Completing {
  readonly submitted: Submitted;
  readonly head: CompletionHead;
  readonly giveUp: () => Promise<void>;
}

function newHead({ responseId }: Submitted, model: string): CompletionHead {
  const created = Math.floor(Date.now() / MS_PER_SECOND);
  return { id: `chatcmpl-${responseId.slice('chat_'.length)}`, created, model };
}

const MS_PER_SECOND = 1000;

async function answerWhole(
  c: Context<AppContext>,
  { submitted, head, giveUp }: Completing,
): Promise<Response> {
  const answering = foldAnswer(c.req.raw, c.env, submitted);
  c.executionCtx.waitUntil(answering.then(() => undefined, giveUp));
  const response = await answering;
  const ending = endingOf(response);
  if (ending.type === 'failed') return toFailureResponse(ending.failure, submitted);
  const words = renderWords(response.documents);
  const { model, usage } = response;
  const completion = newCompletion({ ...head, model }, words, ending.reason, usage);
  return c.json(completion, 200, headersOf(submitted));
}

async function answerStreamed(
  c: Context<AppContext>,
  { submitted, head, giveUp }: Completing,
  withUsage: boolean,
): Promise<Response> {
  const waitUntil = (promise: Promise<void>) => c.executionCtx.waitUntil(promise);
  const streaming = { head, withUsage, giveUp, waitUntil };
  const opening = streamCompletion(c.req.raw, c.env, submitted, streaming);
  waitUntil(opening.then(() => undefined, giveUp));
  const stream = await opening;
  if (!(stream instanceof ReadableStream)) return toFailureResponse(stream, submitted);
  return new Response(stream, {
    headers: { ...headersOf(submitted), ...SSE_HEADERS },
  });
}

/** The model server was asked again already, as often as makes sense: clients that would repeat the request need not. */
function toFailureResponse({ status, error }: Failure, submitted: Submitted): Response {
  const headers = { ...headersOf(submitted), 'x-should-retry': 'false' };
  return Response.json({ error }, { status, headers });
}

function headersOf({ caller, responseId }: Submitted): Record<string, string> {
  return {
    'Drawbridge-Conversation-Id': caller.conversationId,
    'Drawbridge-Response-Id': responseId,
  };
}

/** Never throws: an object that restarts is asked again, and a run that cannot be reached ends by itself. */
async function cancelRun(env: Env, { caller, responseId }: Submitted): Promise<void> {
  const { ordinal } = parseResponseId(responseId);
  for (let tries = 0; tries < FOLLOW_LIMITS.maxReattaches; tries++) {
    try {
      await conversationOf(env, caller).cancel(caller, ordinal);
      return;
    } catch {
      // The object is being moved or restarted. It is the next try's turn.
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_LIMITS.reattachMs));
    }
  }
}
