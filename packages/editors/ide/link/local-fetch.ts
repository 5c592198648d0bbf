/**
 * `fetch` for a companion on this machine, over `node:http`. The `fetch` of Node ends an event stream after five silent
 * minutes, ignores a `host` header and may use a proxy.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { newDeferred } from '../../../../machine/deferred.ts';
import { Agent, request } from '../../../../machine/http.ts';
import { hostHeader } from '../discovery/place.ts';

export interface LocalFetchOptions {
  /** Of the companion, for the `Host` header. */
  readonly port: number;
  /** Bytes of one line of an event stream, and of any other body. A longer one ends the response with an error. */
  readonly maxMessageBytes: number;
  /** Bytes have arrived. */
  readonly onBytes: () => void;
  /** The event stream that a GET asks for was refused, or ended. Called for each such request. */
  readonly onStreamEnd: (reason: string) => void;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The body of a request must be a text. Redirects are returned as they are. */
export function createLocalFetch(options: LocalFetchOptions): Fetch {
  // An agent of our own knows no proxy.
  const agent = new Agent({ keepAlive: false });
  return async (url, { method = 'GET', headers, body, signal } = {}) => {
    const { promise, resolve, reject } = newDeferred<Response>();
    const sent = { ...Object.fromEntries(new Headers(headers)), host: hostHeader(options.port) };
    const outgoing = request(new URL(url), {
      method,
      agent,
      headers: sent,
      ...(signal && { signal }),
    });
    outgoing.once('error', reject);
    outgoing.once('response', (message) => {
      watch(message, method, options);
      try {
        resolve(toResponse(message));
      } catch (error) {
        message.destroy(); // A status or header that `Response` does not take.
        reject(error);
      }
    });
    outgoing.end(body ?? undefined);
    return await promise;
  };
}

function watch(message: IncomingMessage, method: string, options: LocalFetchOptions): void {
  const { maxMessageBytes, onBytes, onStreamEnd } = options;
  const isStream = /^text\/event-stream\b/.test(message.headers['content-type'] ?? '');
  let length = 0;
  message.on('data', (chunk: Buffer) => {
    onBytes();
    const lineEnd = isStream ? chunk.lastIndexOf(LINE_FEED) : -1;
    length = lineEnd < 0 ? length + chunk.length : chunk.length - lineEnd - 1;
    if (length > maxMessageBytes) message.destroy(new Error('The companion sent too much.'));
  });
  message.pause(); // A listener for data starts the flow, before there is a reader.
  if (method !== 'GET') return;
  const { statusCode } = message;
  if (isStream) message.once('close', () => onStreamEnd('its event stream ended'));
  else onStreamEnd(`it gave no event stream (status ${statusCode})`);
}

function toResponse(message: IncomingMessage): Response {
  const { statusCode: status = 502, rawHeaders } = message;
  const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  );
  if (!BODILESS.has(status)) {
    return new Response(Readable.toWeb(message) as ReadableStream, { status, headers: pairs });
  }
  message.resume();
  return new Response(null, { status, headers: pairs });
}

/** Statuses with which `Response` takes no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);
const LINE_FEED = 0x0a;
