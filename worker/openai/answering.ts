/** Turns a request in one of OpenAI's shapes into a run, and the run into an answer of that shape. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { ChatRequest } from '../../shared/api/requests.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { type AppContext, senderOf } from '../account/caller.ts';
import { type Submitted, submitMessage } from '../desk/submit.ts';
import { attachFirst } from '../follow/attach.ts';
import { cancelRun } from '../follow/cancel-run.ts';
import { foldAnswer, refusalOf } from '../follow/fold-answer.ts';
import { SSE_HEADERS } from '../follow/sse-writer.ts';
import { logEvent } from '../health/log.ts';
import { endingOf, type Failure, type FinishReason, LOST } from '../words/ending.ts';
import { WordStream } from '../words/word-stream.ts';
import { errorBody, failureOfRequest } from './errors.ts';
import { answerHeld, toResponse, type WholeAnswer } from './held-answer.ts';
import type { HeldWire } from './held-wire.ts';

/** What one API asks, and how its answers look. */
export interface OpenAiQuestion {
  readonly request: ChatRequest;
  /** Whether a client can come back to the answer. A run whose answer is not kept ends with its client. */
  readonly isKept: boolean;
  readonly isStreamed: boolean;
  /** The names of the fields that were ignored. */
  readonly ignored: readonly string[];
  readonly shape: (submitted: Submitted) => AnswerShape;
}

/** The form of an answer. */
export interface AnswerShape {
  readonly whole: (response: ChatResponse, reason: FinishReason) => object;
  readonly wire: () => HeldWire;
}

/** Answers in one piece, with a stream, or with an error. */
export async function answer(c: Context<AppContext>, question: OpenAiQuestion): Promise<Response> {
  const { isKept, request } = question;
  const submitted = await submitMessage(c.env, {
    ...senderOf(c),
    request,
    ephemeral: !isKept,
    unasking: true,
  });
  const answering: Answering = {
    submitted,
    trace: c.var.trace,
    headers: headersOf(submitted, question.ignored),
    shape: question.shape(submitted),
    giveUp: isKept ? () => Promise.resolve() : () => cancelRun(c.env, submitted),
  };
  if (!question.isStreamed) return await answerWhole(c, answering);
  try {
    return await answerStreamed(c, answering);
  } catch (error) {
    if (failureOfRequest(error).status < 500) throw error;
    return toResponse(failed(lossOf(error, c.req.raw.signal, answering), answering));
  }
}

/** A run that becomes an answer. */
interface Answering {
  readonly submitted: Submitted;
  readonly trace: string;
  /** The headers of every answer, also of an error. */
  readonly headers: Readonly<Record<string, string>>;
  readonly shape: AnswerShape;
  /** Called when the client has left before the end. Never rejects. */
  readonly giveUp: () => Promise<void>;
}

/**
 * Answers in one piece. {@link answerHeld} holds the headers back for a while, so that an early failure has its own
 * status. A client that has left ends the wait.
 */
async function answerWhole(c: Context<AppContext>, answering: Answering): Promise<Response> {
  const { submitted, giveUp } = answering;
  const gone = new AbortController();
  const signal = AbortSignal.any([c.req.raw.signal, gone.signal]);
  const folding = foldAnswer(signal, c.env, submitted, false);
  waitUntil(folding.then(() => undefined, giveUp));
  const whole = folding.then(
    (response) => toWhole(response, answering),
    (error) => failed(lossOf(error, signal, answering), answering),
  );
  return await answerHeld(whole, answering.headers, { gone, signal });
}

function toWhole(response: ChatResponse, answering: Answering): WholeAnswer {
  const ending = endingOf(response);
  if (ending.type === 'failed') return failed(ending.failure, answering);
  const { headers, shape } = answering;
  return { status: 200, body: shape.whole(response, ending.reason), headers };
}

/** The failure if the answer was lost without an error from the run. */
function lossOf(thrown: unknown, signal: AbortSignal, { submitted, trace }: Answering): Failure {
  const failure = failureOfRequest(thrown);
  if (failure.status < 500) return failure;
  const run = submitted.responseId;
  if (!signal.aborted) logEvent('completion_lost', { trace, run, error: thrown });
  return LOST.failure;
}

async function answerStreamed(c: Context<AppContext>, answering: Answering): Promise<Response> {
  const { headers, giveUp } = answering;
  const opening = openStream(c, answering);
  waitUntil(opening.then(() => undefined, giveUp));
  const stream = await opening;
  if (!(stream instanceof ReadableStream)) return toResponse(failed(stream, answering));
  return new Response(stream, {
    headers: { ...headers, ...SSE_HEADERS },
  });
}

/**
 * Follows the run. Resolves with the stream when the model answers, or after FOLLOW_LIMITS.heartbeatMs. Resolves with
 * the failure if the run ends before that. While tools run, the stream only carries comments.
 */
async function openStream(
  c: Context<AppContext>,
  { submitted, shape, giveUp }: Answering,
): Promise<ReadableStream<Uint8Array> | Failure> {
  const { signal } = c.req.raw;
  const first = await attachFirst(c.env, submitted, 'json', 0, signal);
  if (first.type === 'response') throw await refusalOf(first.response);
  const wire = shape.wire();
  const stream = new WordStream(wire.writer, wire);
  waitUntil(stream.follow(c.env, submitted, first, { signal, giveUp }));
  return (await wire.opening) ?? wire.writer.readable;
}

/** The client must not retry: the run has already repeated its requests to the model server. */
function failed(failure: Failure, { headers: known }: Answering): WholeAnswer {
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
