/** What an error of the SDK says of a call: whether the server was reached, and whether it demands a login. */
import {
  AuthorizationServerMismatchError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { CallFailure, type CallOutcome } from '../call-failure.ts';
import { LoginNeeded } from '../login/login-file.ts';

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

/** What a transport gives for the answer of a request whose stream broke before it. No server has this code. */
export const BROKEN_STREAM = { code: 1, message: 'The stream of the answer broke.' } as const;

/**
 * Whether a call was refused because its headers are those of an older definition of the tool. The SDK lists the tools
 * again by itself only for a client that leaves the list to it.
 */
export function isOutdated(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === HEADER_MISMATCH;
}

/** Of MCP 2026-07-28. The SDK has no name for it. */
const HEADER_MISMATCH = -32020;

function outcomeOf(error: unknown): CallOutcome {
  if (isUnauthorized(error)) return 'refused';
  if (error instanceof ProtocolError)
    return error.code === BROKEN_STREAM.code ? 'lost' : 'answered';
  if (error instanceof SdkHttpError) {
    if (error.status === TOO_LARGE) return 'answered';
    return error.status >= 400 && error.status < 500 ? 'refused' : 'lost';
  }
  if (error instanceof SdkError) return OUTCOMES[error.code] ?? 'lost';
  return isNotConnected(error) ? 'refused' : 'lost';
}

/** Any other code may follow a call that the server has carried out. */
const OUTCOMES: Partial<Record<SdkErrorCode, CallOutcome>> = {
  [SdkErrorCode.RequestTimeout]: 'timeout',
  [SdkErrorCode.NotConnected]: 'refused',
  [SdkErrorCode.CapabilityNotSupported]: 'answered',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'answered',
};

/** How to connect again after the first try failed with this error; undefined where a second one fails as well. */
export function otherEraAfter(error: unknown, isProgram: boolean): 'legacy' | 'modern' | undefined {
  // Servers that speak only the newest version, and were asked too late for it.
  if (error instanceof ProtocolError)
    return error.code === ProtocolErrorCode.UnsupportedProtocolVersion ? 'modern' : undefined;
  if (isUnauthorized(error) || !(error instanceof SdkError)) return undefined;
  // Of a program the SDK itself takes silence for an old version.
  if (error.code === SdkErrorCode.RequestTimeout) return isProgram ? undefined : 'legacy';
  return error.code === SdkErrorCode.EraNegotiationFailed ? 'legacy' : undefined;
}

/** Throws a {@link LoginNeeded} where one is needed, else the error itself. */
export function rethrow(error: unknown): never {
  throw isUnauthorized(error) ? new LoginNeeded('it demands a login', { cause: error }) : error;
}

function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof LoginNeeded) return true;
  // The server trusts another authorization server than the one of the login: only a new login is of use.
  if (error instanceof AuthorizationServerMismatchError) return true;
  return error instanceof SdkHttpError && error.status === 401;
}

/** The status for this one message; the session goes on. */
const TOO_LARGE = 413;

/** `fetch` has the reason as its error's cause. */
function isNotConnected(error: unknown): boolean {
  const { cause } = Object(error);
  return ['ECONNREFUSED', 'ENOTFOUND'].includes(String(Object(cause).code));
}
