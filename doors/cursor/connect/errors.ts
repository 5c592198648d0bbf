/** Errors of the Connect protocol: its codes, and where its responses carry them. */
import { toWireError } from '../../../shared/errors.ts';
import type { Ending } from '../../words/ending.ts';

/** The codes that the Worker uses, with the HTTP status of each for a unary call. */
const STATUS = {
  canceled: 499,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  unauthenticated: 401,
} as const;

export type ConnectCode = keyof typeof STATUS;

/** An error as a client of Connect reads it. */
export interface ConnectError {
  readonly code: ConnectCode;
  readonly message: string;
}

/** A call that the protocol itself refuses. */
export class ConnectRefusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ConnectCode;

  constructor(code: ConnectCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Turns any thrown value into an error that may leave the process. */
export function errorOf(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectRefusal) return { code: thrown.code, message: thrown.message };
  const { status, body } = toWireError(thrown);
  return { code: codeOf(status), message: body.error.message };
}

/** The error of a run without an answer. Null for a run with one, whole or cut short. */
export function errorOfEnding(ending: Ending): ConnectError | null {
  if (ending.type === 'finished') return null;
  const { status, message } = ending.failure;
  return { code: codeOf(status), message };
}

export const TIMED_OUT: Ending = {
  type: 'failed',
  failure: {
    status: 408,
    code: 'deadline_exceeded',
    message: 'The answer did not end within connect-timeout-ms.',
  },
};

/** A unary call's error. */
export function errorResponse({ code, message }: ConnectError, headers?: HeadersInit): Response {
  return Response.json({ code, message }, { status: STATUS[code], ...(headers && { headers }) });
}

function codeOf(status: number): ConnectCode {
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return 'permission_denied';
    case 404:
      return 'not_found';
    case 408:
      return 'deadline_exceeded';
    case 409:
      return 'aborted';
    case 410:
      return 'canceled';
    case 413:
    case 429:
      return 'resource_exhausted';
    case 502:
    case 503:
      return 'unavailable';
    case 424:
      return 'failed_precondition'; // Tools may have run: a client must not repeat the call.
    default:
      return status < 500 ? 'invalid_argument' : 'internal';
  }
}
