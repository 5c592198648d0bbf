/** Sends one request to the API. An answer that is not a success becomes a ClientError. */

import { parseIfJson } from '../shared/text/json.ts';
import { JSON_LIMITS } from '../shared/text/limits.ts';
import type { ClientOptions, TokenSource } from './api.ts';
import { ClientError, causeOf, clientError } from './error.ts';
import { type Guard, guard } from './shapes.ts';

export interface RequestParts {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request to a path below `/api/v1/`. */
export type Send = (path: string, parts?: RequestParts) => Promise<Response>;

/**
 * Binds an endpoint. The returned function resolves only to successes; an abort rejects with the signal's reason.
 * `hintOf` adds to the error of a page whose server, of another origin, does not answer.
 */
export function createSend(
  { url, token, fetch = globalThis.fetch }: ClientOptions,
  hintOf?: (url: string) => string,
): Send {
  const base = `${url.replace(/\/+$/, '')}/api/v1/`;
  // Whether Drawbridge has ever answered: a strange answer then comes from something on the way.
  let wasReached = false;
  return async (path, parts = {}) => {
    const { signal } = parts;
    const search = new URLSearchParams(parts.query).toString();
    const address = `${base}${path}${search && `?${search}`}`;
    const sendAs = async (bearer: string) => {
      const ask = () => fetch(address, initOf(parts, bearer));
      const response = await reach(ask, () => unreachable(url, fetch, hintOf), signal);
      const refusal = response.ok ? undefined : await refusalOf(response, signal);
      const isStrange = refusal?.code === 'BAD_ANSWER';
      if (isStrange && !wasReached && NO_ENTRY.test(`${response.status}`))
        throw wrongAddress(url, refusal);
      wasReached ||= !isStrange;
      if (refusal) throw refusal;
      return response;
    };
    if (typeof token === 'string') return await sendAs(token);
    const kept = await giveToken(token, undefined, signal);
    try {
      return await sendAs(kept);
    } catch (error) {
      // The 401 of a proxy says nothing about the token.
      if (!(error instanceof ClientError && error.code === 'UNAUTHENTICATED')) throw error;
      const renewed = await giveToken(token, kept, signal);
      if (renewed === kept) throw error;
      return await sendAs(renewed);
    }
  };
}

/** Of a server that does not list the page's origin, a browser says the same: it then answers what no page may read. */
async function unreachable(
  url: string,
  fetch: typeof globalThis.fetch,
  hintOf?: (url: string) => string,
): Promise<string> {
  // The types of a Worker have neither a location nor a mode.
  const { origin = url }: { origin?: string } = Object(Object(globalThis).location);
  const isElsewhere = !`${url}/`.startsWith(`${origin}/`);
  const unread: object = { mode: 'no-cors' };
  return isElsewhere && (await fetch(`${url}/health`, unread).catch(() => null))
    ? `Drawbridge at ${url} answers, but its ALLOWED_ORIGINS lacks ${origin}`
    : `Drawbridge cannot be reached at ${url}${(isElsewhere && hintOf?.(url)) || ''}`;
}

/** Statuses with which a proxy, a firewall or a page to sign in at answers, and so does another server. */
const NO_ENTRY = /^(?:3..|40[134])$/;

function wrongAddress(url: string, cause: ClientError): ClientError {
  const { status = 0, traceId } = cause;
  const text = `No Drawbridge answers at ${url} (status ${status}): check the address`;
  return new ClientError('WRONG_ADDRESS', text, { status, traceId, cause });
}

/** The JSON of an answer. @throws {ClientError} `BAD_ANSWER` if it is another one. */
export async function readJson<T>(
  response: Response,
  isAnswer: Guard<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const answer = await jsonOf(response, signal);
  if (isAnswer(answer)) return answer;
  throw clientError(
    'BAD_ANSWER',
    'The answer has an unexpected form: check that the URL is that of a Drawbridge of this version',
  );
}

function initOf(
  { method = 'GET', body, headers, signal }: RequestParts,
  bearer: string,
): RequestInit {
  return {
    method,
    headers: {
      ...headers,
      ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  };
}

/** Undefined if the body is not JSON, or nests deeper than any answer of Drawbridge. */
async function jsonOf(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  return parseIfJson(await readText(response, signal), JSON_LIMITS.maxDepth + JSON_LIMITS.envelope);
}

/** The whole body as text. */
export async function readText(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<string> {
  return await reach(
    () => response.text(),
    () => 'The answer broke off',
    signal,
  );
}

async function reach<T>(
  work: () => Promise<T>,
  say: () => string | Promise<string>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    const message = await say();
    signal?.throwIfAborted();
    const cause = causeOf(error);
    throw clientError('UNREACHABLE', cause ? `${message}: ${cause}` : message, error);
  }
}

/** Leaves a source that does not look at its signal. */
async function giveToken(
  source: TokenSource,
  refused: string | undefined,
  signal: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    Promise.resolve(source(refused, signal))
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', onAbort));
  });
}

const isRefusal = guard<{
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown };
}>({ error: { code: 'string', message: 'string' } });

/** The API's own error, or the error of a proxy in front of the API. */
async function refusalOf(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<ClientError> {
  const { status } = response;
  const traceId = response.headers.get('drawbridge-trace-id') ?? undefined;
  const body = await jsonOf(response, signal);
  if (!isRefusal(body)) {
    const text = `The server answered with status ${status}`;
    return new ClientError('BAD_ANSWER', text, { status, traceId });
  }
  const { code, message, details } = body.error;
  return new ClientError(code, message, { status, details, traceId });
}

/** Sends requests and reads their JSON answers. */
export function getter(send: Send) {
  return async function get<T>(path: string, is: Guard<T>, parts: RequestParts): Promise<T> {
    return await readJson(await send(path, parts), is, parts.signal);
  };
}

/** The query without its undefined fields. */
export function queryOf(wanted: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const entries = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
