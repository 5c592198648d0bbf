/** Errors in OpenAI's shape. */
import { type ErrorCode, toWireError } from '../../shared/errors.ts';
import type { Failure } from '../words/ending.ts';
import { OpenAiFailure } from './schemas.ts';

/** The error object of a body or a stream. OpenAI's clients turn it into their own errors. */
export interface OpenAiError {
  readonly message: string;
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  /** The path of the wrong field, for example `messages[3].content`. */
  readonly param: string | null;
  readonly code: string;
}

/** The body of an error, and the last data of a stream that failed. */
export function errorBody({ status, code, message, param }: Failure): { error: OpenAiError } {
  return { error: { message, type: typeOf(status), param: param ?? null, code } };
}

function typeOf(status: number): OpenAiError['type'] {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Turns any thrown value into an error that may leave the process. `code` is OpenAI's own, or ours in lower case. */
export function failureOfRequest(thrown: unknown): Failure {
  const { status, body } = toWireError(thrown);
  const { code, message } = body.error;
  const param = status < 500 ? FIELD.exec(message)?.[1] : undefined;
  return { status, code: WORDS[code] ?? code.toLowerCase(), message, param };
}

/** Our messages begin with the path of the wrong field. */
const FIELD = /^([A-Za-z_][\w.[\]]*): /;

const WORDS: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'invalid_api_key',
  UNKNOWN_MODEL: 'model_not_found',
  RATE_LIMITED: 'rate_limit_exceeded',
};

/** Whether errors of this path take OpenAI's shape. */
export function isOpenAiPath(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

/** The response for any thrown value. Clients must not repeat a 5xx: the request may have been carried out. */
export function toOpenAiResponse(thrown: unknown, headers: HeadersInit): Response {
  const failure = failureOfRequest(thrown);
  const { status } = failure;
  const response = Response.json(errorBody(failure), { status, headers });
  if (status >= 500) response.headers.set('x-should-retry', 'false');
  return response;
}

/** How `/openapi.json` describes an error below `/v1`. */
export const OPENAI_REFUSALS = { schema: OpenAiFailure, of: failureOfRequest } as const;
