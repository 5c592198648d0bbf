/** Errors in OpenAI's shape: failures of a request, and failures of its run. */

import { type ErrorCode, toWireError } from '../../shared/errors.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { FinishReason } from './completion.ts';

/** The error object of a body or a stream. OpenAI's clients turn it into their own errors. */
export interface OpenAiError {
  readonly message: string;
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  /** The path of the wrong field, for example `messages[3].content`. */
  readonly param: string | null;
  readonly code: string;
}

/** An error and the HTTP status to use if nothing was sent before it. */
export interface Failure {
  readonly status: number;
  readonly error: OpenAiError;
}

/** Turns any thrown value into an error that may leave the process. `code` is OpenAI's own, or ours in lower case. */
export function failureOfRequest(thrown: unknown): Failure {
  const { status, body } = toWireError(thrown);
  const { code, message } = body.error;
  const param = status < 500 ? FIELD.exec(message)?.[1] : undefined;
  return newFailure(status, WORDS[code] ?? code.toLowerCase(), message, param);
}

/** Whether errors of this path take OpenAI's shape. */
export function isOpenAiPath(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

/**
 * The response for any thrown value. Tells clients not to repeat a 5xx: safe repeats were already made, and any other
 * request may have been carried out.
 */
export function toOpenAiResponse(thrown: unknown, headers: HeadersInit): Response {
  const { status, error } = failureOfRequest(thrown);
  const response = Response.json({ error }, { status, headers });
  if (status >= 500) response.headers.set('x-should-retry', 'false');
  return response;
}

/** Our messages begin with the path of the wrong field. */
const FIELD = /^([A-Za-z_][\w.[\]]*): /;

const WORDS: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'invalid_api_key',
  UNKNOWN_MODEL: 'model_not_found',
  RATE_LIMITED: 'rate_limit_exceeded',
};

/** The end of a run. `finished`: with an answer, whole or cut short. `failed`: without one. */
export type Ending =
  | { readonly type: 'finished'; readonly reason: FinishReason }
  | { readonly type: 'failed'; readonly failure: Failure };

/** The ending of a response that has ended. `response` is null if it was cancelled before it started. */
export function endingOf(response: ChatResponse | null): Ending {
  if (response?.status === 'completed') return { type: 'finished', reason: 'stop' };
  if (response?.status !== 'error') return { type: 'failed', failure: CANCELLED };
  const error = response.documents.findLast(({ type }) => type === 'error');
  const code = String(error?.metadata['errorCode'] ?? 'INTERNAL');
  const reason = CUT_SHORT[code];
  if (reason) return { type: 'finished', reason };
  const failure = failureOfRun(
    code,
    String(error?.metadata['details'] || error?.content || UNSAID),
  );
  return {
    type: 'failed',
    failure: response.metadata.toolCallCount > 0 ? final(failure) : failure,
  };
}

const UNSAID = 'The run failed.';

/** Errors after which the text so far counts as an answer. */
const CUT_SHORT: Readonly<Record<string, FinishReason>> = {
  ANSWER_TRUNCATED: 'length',
  TURN_LIMIT: 'length',
  BUDGET_EXCEEDED: 'length',
  CONTENT_FILTERED: 'content_filter',
};

function failureOfRun(code: string, message: string): Failure {
  switch (code) {
    case 'CONTEXT_LENGTH_EXCEEDED':
      return newFailure(400, 'context_length_exceeded', message, 'messages');
    case 'UPSTREAM_ERROR':
    case 'UPSTREAM_INTERRUPTED':
    case 'EMPTY_ANSWER':
      return newFailure(502, code.toLowerCase(), message);
    default:
      return newFailure(500, code.toLowerCase(), message);
  }
}

/** Replaces a 5xx by 424. Clients repeat a request after a 5xx by themselves, and its tools must not run twice. */
function final(failure: Failure): Failure {
  return failure.status < 500 ? failure : { ...failure, status: 424 };
}

const CANCELLED = newFailure(410, 'cancelled', 'The answer was cancelled.');

/** The ending if a crash took back text that the client has read. This protocol has no way to take text back. */
export const TAKEN_BACK: Ending = {
  type: 'failed',
  failure: newFailure(
    500,
    'answer_interrupted',
    'The answer was interrupted, and went on differently from what was sent. Ask again.',
  ),
};

/** The ending if the run's end was not seen. Its tools may have run. */
export const LOST: Extract<Ending, { type: 'failed' }> = {
  type: 'failed',
  failure: final(
    newFailure(500, 'answer_lost', 'The answer could not be followed to its end. Ask again.'),
  ),
};

function newFailure(status: number, code: string, message: string, param?: string): Failure {
  return { status, error: { message, type: typeOf(status), param: param ?? null, code } };
}

function typeOf(status: number): OpenAiError['type'] {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
