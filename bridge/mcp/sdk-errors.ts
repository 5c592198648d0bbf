/** What an error of the SDK says of a call: whether the server was reached, and whether it demands a login. */
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { CallFailure, type CallOutcome } from './call-failure.ts';
import { LoginNeeded } from './login-file.ts';

/** Rejects with a {@link CallFailure}. */
export async function reached<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    const needed = isUnauthorized(error) ? new LoginNeeded('it demands a login') : error;
    const message = needed instanceof Error ? needed.message : String(needed);
    throw new CallFailure(outcomeOf(error), message, { cause: needed });
  }
}

function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) return 'timeout';
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) return 'answered';
  if (isUnauthorized(error)) return 'refused';
  if (error instanceof StreamableHTTPError && error.code === TOO_LARGE) return 'answered';
  if (error instanceof StreamableHTTPError) return isClientError(error.code) ? 'refused' : 'lost';
  return isNotConnected(error) ? 'refused' : 'lost';
}

/** Throws a {@link LoginNeeded} where one is needed, else the error itself. */
export function rethrow(error: unknown): never {
  throw isUnauthorized(error) ? new LoginNeeded('it demands a login', { cause: error }) : error;
}

function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof LoginNeeded) return true;
  return error instanceof StreamableHTTPError && error.code === 401;
}

/** The status for this one message; the session goes on. */
const TOO_LARGE = 413;

function isClientError(status = 0): boolean {
  return status >= 400 && status < 500;
}

/** `fetch` tells the reason as its error's cause. */
function isNotConnected(error: unknown): boolean {
  const { cause } = Object(error);
  return ['ECONNREFUSED', 'ENOTFOUND'].includes(String(Object(cause).code));
}
