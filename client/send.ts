/** Sends one request to the API. An answer that is not a success becomes a ClientError. */
import * as z from 'zod';
import { parseJson } from '../shared/json.ts';
import { JSON_LIMITS } from '../shared/limits.ts';
import { ClientError, clientError } from './error.ts';

export interface Endpoint {
  /** The URL of Drawbridge without `/api/v1`. It may end in a slash and may have a path. */
  readonly url: string;
  readonly token: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface RequestParts {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request to a path below `/api/v1/`. */
export type Send = (path: string, parts?: RequestParts) => Promise<Response>;

/** Binds an endpoint. The returned function resolves only to successes; an abort rejects with the signal's reason. */
export function createSend({ url, token, fetch = globalThis.fetch }: Endpoint): Send {
  const base = `${url.replace(/\/+$/, '')}/api/v1/`;
  return async (path, { method = 'GET', query, body, headers, signal } = {}) => {
    const init: RequestInit = {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    const search = new URLSearchParams(query).toString();
    const address = `${base}${path}${search && `?${search}`}`;
    const response = await reach(() => fetch(address, init), url, signal);
    if (!response.ok) throw await refusal(response);
    return response;
  };
}

/** The JSON of an answer, checked by the schema. @throws {ClientError} `BAD_ANSWER` if the check fails. */
export async function readJson<Output>(
  response: Response,
  schema: z.ZodType<Output>,
): Promise<Output> {
  const parsed = schema.safeParse(await jsonOf(response));
  if (parsed.success) return parsed.data;
  throw clientError(
    'BAD_ANSWER',
    `Drawbridge gave an answer in an unexpected form: ${parsed.error.issues[0]?.message}`,
    parsed.error,
  );
}

/** Undefined if the body is not JSON, or nests deeper than any answer of Drawbridge. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return parseJson(await response.text(), JSON_LIMITS.maxDepth + JSON_LIMITS.envelope);
  } catch {
    return undefined; // The caller's schema refuses it and says what it expected.
  }
}

async function reach(
  request: () => Promise<Response>,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await request();
  } catch (error) {
    signal?.throwIfAborted();
    throw clientError('UNREACHABLE', `Drawbridge cannot be reached at ${url}`, error);
  }
}

const Refusal = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});

/** The API's own error, or the error of a proxy in front of the API. */
async function refusal(response: Response): Promise<ClientError> {
  const { status } = response;
  const body = Refusal.safeParse(await jsonOf(response));
  if (!body.success) {
    return new ClientError('BAD_ANSWER', `The server answered with status ${status}`, { status });
  }
  const { code, message, details } = body.data.error;
  return new ClientError(code, message, { status, details });
}
