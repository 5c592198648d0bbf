/** What goes wrong between a client and the API, as one class. */

/** Codes of the client itself, beside those of the API (shared/errors.ts). */
export type ClientOwnCode = 'UNREACHABLE' | 'BAD_ANSWER';

/**
 * The API refused a request, could not be reached (`UNREACHABLE`) or gave an answer that is not its own
 * (`BAD_ANSWER`). The code is a plain string: a newer server may know more of them than this client.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: string;
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  readonly details: unknown;

  constructor(
    code: string,
    message: string,
    options: { status?: number; details?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.details = options.details;
  }
}

/** An error of the client's own making. */
export function clientError(code: ClientOwnCode, message: string, cause?: unknown): ClientError {
  return new ClientError(code, message, { cause });
}
