/** Turns a request in one of OpenAI's shapes into a run, and the run into an answer of that shape. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { ChatRequest, OutputForm } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { renderWords, type Words } from '../../shared/shown/markdown.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import {
  type AnswerPlace,
  type ApiDesk,
  type AppContext,
  deskOf,
  logEvent,
  type Sending,
  SSE_HEADERS,
} from '../../worker/door.ts';
import { type AnswerUsage, usageOfAnswer } from '../words/answer-usage.ts';
import { documentsAfter, isForClient, waitsForClient } from '../words/client-calls.ts';
import { endingOf, type Failure, type FinishReason, LOST } from '../words/ending.ts';
import { WordStream } from '../words/word-stream.ts';
import type { AskedMessages } from './added.ts';
import { ownToolFor } from './brought-tools.ts';
import { type CallResults, type ClientCall, toClientCalls, withContent } from './client-tools.ts';
import { errorBody, failureOfRequest } from './errors.ts';
import { answerHeld, toResponse, type WholeAnswer } from './held-answer.ts';
import type { HeldWire } from './held-wire.ts';
import type { CompletionRequest } from './request.ts';

/** What one API asks, and how its answers look. */
export interface OpenAiQuestion {
  readonly asks: AskedRun | CallResults;
  /** What is asked where the run of the results waits no more. */
  readonly otherwise?: AskedRun | undefined;
  /** Whether a client can come back to the answer. A run whose answer is not kept ends with its client. */
  readonly isKept: boolean;
  readonly isStreamed: boolean;
  /** The names of the fields that were ignored. */
  readonly ignored: readonly string[];
  /** The types of a server's own tools that are wanted. */
  readonly hosted: readonly string[];
  readonly shape: (place: AnswerPlace) => AnswerShape;
}

/** A message, with the app's tools. */
export type AskedRun = Pick<Sending, 'request' | 'clientTools' | 'output' | 'demand'>;

/** Names an answer. The first one of a run has the UUID of the response. */
export function nameOf({ responseId, after }: Omit<AnswerPlace, 'caller'>): string {
  return responseId.slice('chat_'.length) + (after === 0 ? '' : `_${after}`);
}

/** The form of an answer. */
export interface AnswerShape {
  readonly whole: (answer: AnswerParts, reason: FinishReason) => object;
  readonly wire: () => HeldWire;
}

/** What an answer in one piece has. */
export interface AnswerParts extends Pick<ChatResponse, 'model'> {
  readonly usage: AnswerUsage | null;
  /** The text and the reasoning, or the JSON that was asked for. */
  readonly words: Words;
  /** The calls of the app's tools that it ends with. */
  readonly calls: readonly ClientCall[];
}

/** A message with the app's tools, unless it wants none of them called. */
export function toSending(
  { tools, tool_choice: choice }: Pick<CompletionRequest, 'tools' | 'tool_choice'>,
  request: ChatRequest,
  output: OutputForm | undefined,
): AskedRun {
  const functions = choice === 'none' ? [] : (tools?.functions ?? []);
  const demand = choice === 'auto' || choice === 'none' ? undefined : (choice ?? undefined);
  const isKnown = typeof demand !== 'object' || functions.some(({ name }) => name === demand.name);
  if (!isKnown) {
    throw new DrawbridgeError('INVALID_REQUEST', 'tool_choice: there is no function of this name');
  }
  return { request, output, demand, clientTools: functions.length > 0 ? functions : undefined };
}

/** What a question asks: results, with what else is asked if nothing waits for them, or a message. */
export function askedBy(
  asks: AskedMessages | CallResults,
  send: () => AskedRun,
): Pick<OpenAiQuestion, 'asks' | 'otherwise'> {
  if (!('results' in asks)) return { asks: send() };
  return { asks, otherwise: asks.otherwise && send() };
}

/** Answers in one piece, with a stream, or with an error. */
export async function answer(c: Context<AppContext>, question: OpenAiQuestion): Promise<Response> {
  const desk = deskOf(c);
  const place = await begin(c, desk, question);
  const ignored = [...question.ignored, ...(await missingOf(desk, place, question))];
  const answering: Answering = {
    desk,
    place,
    trace: c.var.trace,
    headers: headersOf(place, ignored),
    shape: question.shape(place),
    giveUp: question.isKept ? () => Promise.resolve() : () => desk.cancel(place),
  };
  if (!question.isStreamed) return await answerWhole(answering);
  try {
    return await answerStreamed(answering);
  } catch (error) {
    if (failureOfRequest(error).status < 500) throw error;
    return toResponse(failed(lossOf(error, desk.left, answering), answering));
  }
}

/** Begins a run, or lets one go on that waits for these results. */
async function begin(
  c: Context<AppContext>,
  desk: ApiDesk,
  { asks, otherwise, isKept }: OpenAiQuestion,
): Promise<AnswerPlace> {
  const ask = (asked: AskedRun) => desk.submit({ ...asked, ephemeral: !isKept, unasking: true });
  if (!('results' in asks)) return await ask(asks);
  const { responseId, said } = asks;
  const results = await withContent(asks.results, c.var.images);
  try {
    return await desk.give(responseId, { results, said });
  } catch (error) {
    // With words behind them, results of a run that is over are history like any other.
    const isOver = error instanceof DrawbridgeError && OVER.has(error.code);
    if (isOver && otherwise) return await ask(otherwise);
    throw error;
  }
}

const OVER: ReadonlySet<string> = new Set(['ALREADY_ANSWERED', 'NOT_FOUND', 'CONTENT_DELETED']);

/** A run that becomes an answer. */
interface Answering {
  readonly desk: ApiDesk;
  readonly place: AnswerPlace;
  readonly trace: string;
  /** The headers of every answer, also of an error. */
  readonly headers: Readonly<Record<string, string>>;
  readonly shape: AnswerShape;
  /** Called when the client has left before the end. Never rejects. */
  readonly giveUp: () => Promise<void>;
}

/** Answers in one piece, by {@link answerHeld}. A client that has left ends the wait. */
async function answerWhole(answering: Answering): Promise<Response> {
  const { desk, place, giveUp } = answering;
  const gone = new AbortController();
  const signal = AbortSignal.any([desk.left, gone.signal]);
  const folding = desk.whole(place, waitsForClient(place.after), signal);
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
  const { headers, shape, place } = answering;
  const documents = documentsAfter(response, place.after);
  const waiting = ending.reason === 'tool_calls' ? documents.filter(isForClient) : [];
  const calls = toClientCalls(place.responseId, waiting);
  const usage = usageOfAnswer(response, place.after);
  const { output } = response.metadata;
  const said = renderWords(documents);
  const words = output === undefined ? said : { ...said, content: output };
  const parts = { ...response, calls, usage, words };
  return { status: 200, body: shape.whole(parts, ending.reason), headers };
}

/** The failure if the answer was lost without an error from the run. */
function lossOf(thrown: unknown, signal: AbortSignal, { place, trace }: Answering): Failure {
  const failure = failureOfRequest(thrown);
  if (failure.status < 500) return failure;
  const run = place.responseId;
  if (!signal.aborted) logEvent('completion_lost', { trace, run, error: thrown });
  return LOST.failure;
}

async function answerStreamed(answering: Answering): Promise<Response> {
  const { headers, giveUp } = answering;
  const opening = openStream(answering);
  waitUntil(opening.then(() => undefined, giveUp));
  const stream = await opening;
  if (!(stream instanceof ReadableStream)) return toResponse(failed(stream, answering));
  return new Response(stream, {
    headers: { ...headers, ...SSE_HEADERS },
  });
}

/** Follows the run: the stream when the model answers or the heartbeat is due, or the failure that came before. */
async function openStream({
  desk,
  place,
  shape,
  giveUp,
}: Answering): Promise<ReadableStream<Uint8Array> | Failure> {
  const wire = shape.wire();
  await desk.follow(place, new WordStream(wire.writer, wire, place.after), giveUp);
  return (await wire.opening) ?? wire.writer.readable;
}

/** The client must not retry: the run has already repeated its requests to the model server. */
function failed(failure: Failure, { headers: known }: Answering): WholeAnswer {
  const headers = { ...known, 'x-should-retry': 'false' };
  return { status: failure.status, body: errorBody(failure), headers };
}

/** Which of the wanted tools of a server the run has not, as names for a header. */
async function missingOf(
  desk: ApiDesk,
  place: AnswerPlace,
  { hosted }: Pick<OpenAiQuestion, 'hosted'>,
): Promise<string[]> {
  if (hosted.length === 0) return [];
  const names = await desk.offered(place);
  return hosted
    .filter((type) => {
      const own = ownToolFor(type);
      return own === undefined || names?.includes(own) === false;
    })
    .map((type) => `tools.${type}`);
}

function headersOf(
  { caller, responseId }: AnswerPlace,
  ignored: readonly string[],
): Record<string, string> {
  return {
    'Drawbridge-Conversation-Id': caller.conversationId,
    'Drawbridge-Response-Id': responseId,
    ...(ignored.length > 0 && { 'Drawbridge-Ignored-Fields': ignored.join(', ') }),
  };
}
