/** The one error class of the client. */
import type { ErrorCode } from '../shared/errors.ts';

/** The client's own codes, in addition to those of the API (shared/errors.ts). */
export type ClientOwnCode = 'UNREACHABLE' | 'BAD_ANSWER' | 'WRONG_ADDRESS' | 'UNKNOWN_PROPOSAL';

/**
 * The API refused a request, could not be reached (`UNREACHABLE`) or gave an unexpected answer (`BAD_ANSWER`), another
 * server answered the first request with 401, 403 or 404 (`WRONG_ADDRESS`), or a proposal cannot be signed
 * (`UNKNOWN_PROPOSAL`). A newer server may have codes that this client does not know.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ErrorCode | ClientOwnCode | (string & {});
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  readonly details: unknown;
  /** The trace id of the refused request, as the server's log has it; undefined without an answer. */
  readonly traceId: string | undefined;

  constructor(
    code: string,
    message: string,
    options: {
      status?: number;
      details?: unknown;
      traceId?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.details = options.details;
    this.traceId = options.traceId;
  }
}

/**
 * Whether the same request can succeed later: no answer, an answer of something on the way, or a busy server. What is
 * damaged in storage stays so.
 */
export function isPassing({ code, status = 0 }: ClientError): boolean {
  const isBusy = status === 429 || (status >= 500 && code !== 'DAMAGED');
  return isBusy || code === 'UNREACHABLE' || code === 'BAD_ANSWER';
}

/** An error with one of the client's own codes. */
export function clientError(code: ClientOwnCode, message: string, cause?: unknown): ClientError {
  return new ClientError(code, message, { cause });
}

/** The runtime's reason why a request failed, such as a bad certificate or an unknown host. Undefined in a browser. */
export function causeOf(error: unknown): string | undefined {
  const { cause } = Object(error) as { readonly cause?: unknown };
  const { message, code } = Object(cause) as {
    readonly message?: unknown;
    readonly code?: unknown;
  };
  // A host with several addresses fails with an AggregateError, whose message is empty.
  const words = [message, code].find((text) => typeof text === 'string' && text !== '');
  return words === undefined ? undefined : String(words);
}
