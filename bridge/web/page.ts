/** Reads pages of the public web as text. */

import { lookup as systemLookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { compute } from '../../machine/compute/compute.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { request as requestHttp } from '../../machine/http.ts';
import { isPublicAddress } from '../../packages/sandbox/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { KIB, SECOND } from '../../shared/units.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { canonicalUrl } from './canonical.ts';

export interface Net {
  readonly lookup: LookupFunction;
  readonly isPublic: (address: string) => boolean;
  /** Whether a port may be connected to; the empty text is the scheme's own. */
  readonly isWebPort: (port: string) => boolean;
}

/** Pages lie on the ports of their schemes: a page on another port is more often a service that is no page. */
const PUBLIC_NET: Net = {
  lookup: systemLookup,
  isPublic: isPublicAddress,
  isWebPort: (port) => port === '',
};

export interface Visit {
  /** Whether the policy lets this address be read. Asked for each redirect, too. */
  readonly mayFetch: (url: string) => boolean;
  /** The sentence for an address that may not be read, as a text with control characters shown. */
  readonly whyNot?: (shown: string) => string;
  readonly signal: AbortSignal;
  readonly net?: Net;
}

/** A page as a model reads it: HTML as Markdown, any other text as it is. */
export interface Page {
  /** The address behind all redirects. */
  readonly url: string;
  readonly text: string;
  /** Whether the page is longer than the bytes that are read. */
  readonly isCut: boolean;
}

/** The text of a page, with a note where it is cut. Throws like {@link fetchPage}. */
export async function readPage(address: string, visit: Visit): Promise<string> {
  const { text, isCut } = await fetchPage(address, visit);
  return isCut ? `${text}\n(Only the first ${WEB_LIMITS.maxBytes} bytes were read.)` : text;
}

/**
 * Reads a page. Sends no cookies and no credentials. Never connects to an address that
 * is not public, whatever name or redirect leads there: the addresses are checked at the moment of the connection.
 * Throws a {@link ToolFailure} with a sentence for the model.
 */
export async function fetchPage(address: string, visit: Visit): Promise<Page> {
  const time = AbortSignal.timeout(WEB_LIMITS.maxMs);
  const signal = AbortSignal.any([visit.signal, time]);
  try {
    return await follow(address, { ...visit, signal });
  } catch (error) {
    visit.signal.throwIfAborted();
    if (error instanceof ToolFailure) throw error;
    const why = time.aborted ? 'the server did not answer in time' : reasonOf(error);
    throw new ToolFailure('FETCH_FAILED', `The page could not be read: ${why}.`, { cause: error });
  }
}

async function follow(address: string, visit: Visit): Promise<Page> {
  let url = address;
  for (let hop = 0; hop <= WEB_LIMITS.maxRedirects; hop++) {
    const target = checked(url, visit);
    const response = await open(target, visit);
    const { statusCode = 0, headers } = response;
    const isRedirect = statusCode >= 300 && statusCode < 400 && headers.location !== undefined;
    if (!isRedirect) return await pageOf(target.href, response, visit.signal);
    response.destroy();
    url = new URL(headers.location ?? '', url).href;
  }
  throw new ToolFailure('FETCH_FAILED', 'The page could not be read: it redirects too often.');
}

function checked(address: string, { mayFetch, whyNot = notAllowed, net }: Visit): URL {
  const url = canonicalUrl(address);
  if (!mayFetch(url.href)) throw new ToolFailure('NOT_ALLOWED', whyNot(nameInLine(url.href)));
  requireWebAddress(url, net);
  return url;
}

/**
 * Throws a {@link ToolFailure} for a URL that cannot lead to the public web. A name is checked only when it is looked up,
 * for the connection itself.
 */
export function requireWebAddress(url: URL, net: Net = PUBLIC_NET): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isPlain = /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  const isName = /^[a-z0-9._-]+$/.test(host);
  const isHost = isIP(host) === 0 ? isName : net.isPublic(host);
  if (!isPlain || !net.isWebPort(url.port) || !isHost) {
    const shown = nameInLine(url.href);
    throw new ToolFailure('NOT_ALLOWED', `${shown} is no address of the public web.`);
  }
}

function open(url: URL, { signal, net = PUBLIC_NET }: Visit): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = { accept: 'text/*, application/json', 'accept-encoding': 'identity' };
  const options = {
    headers,
    signal,
    agent: false,
    lookup: publicLookup(net),
    maxHeaderSize: WEB_LIMITS.maxHeadBytes,
  };
  return new Promise((resolve, reject) => {
    // A server that answers with another protocol closes the request, and Node reports no error.
    const closed = () => reject(new Error('the server answered with another protocol'));
    request(url, options, resolve).on('error', reject).on('close', closed).end();
  });
}

/** Refuses a name if any of its addresses is not public, so that the order of the addresses does not matter. */
function publicLookup({ lookup, isPublic }: Net): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const all = Array.isArray(found) ? found : [];
      const [first] = all;
      if (error || !first) return done(error ?? new Error(NO_ADDRESS), '', 0);
      if (!all.every(({ address }) => isPublic(address))) {
        return done(new Error('its name leads into a private network'), '', 0);
      }
      if (options.all) return done(null, all);
      done(null, first.address, first.family);
    });
  };
}

async function pageOf(url: string, response: IncomingMessage, signal: AbortSignal): Promise<Page> {
  try {
    const { statusCode = 0, headers } = response;
    const type = headers['content-type'] ?? 'text/plain';
    if (statusCode !== 200) throw new Error(`the server answered ${statusCode}`);
    if (!TEXT_TYPES.test(type)) throw new Error(noText(type));
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new Error('it is packed');
    const { bytes, isWhole } = await readBounded(response);
    const text = decode(bytes, type);
    const isHtml = HTML_TYPES.test(type);
    const shown = isHtml
      ? await compute(CONTENT_TASKS.markdownOfHtml, { html: text, base: url }, signal)
      : text;
    return { url, text: shown, isCut: !isWhole };
  } finally {
    response.destroy();
  }
}

async function readBounded(response: IncomingMessage) {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > WEB_LIMITS.maxBytes) break;
  }
  const bytes = Buffer.concat(chunks).subarray(0, WEB_LIMITS.maxBytes);
  return { bytes, isWhole: length <= WEB_LIMITS.maxBytes };
}

function decode(bytes: Uint8Array, type: string): string {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // An unknown charset: most pages are UTF-8.
  }
}

const TEXT_TYPES = /^(text\/|application\/([\w.-]+\+)?(json|xml|yaml|javascript|toml))/i;
const HTML_TYPES = /^(text\/html|application\/xhtml\+xml)/i;
/** The server's own word for the type is shown only where it is one. */
function noText(type: string): string {
  const known = /^[\w.+-]{1,40}\/[\w.+-]{1,80}/.exec(type)?.[0];
  return `it is no text${known === undefined ? '' : ` but ${known}`}, and only pages, text and JSON are read`;
}

const NO_ADDRESS = 'its name has no address';

function notAllowed(shown: string): string {
  return `${shown} was not read, because the rules of this machine do not let the bridge read it unasked: use a tool that can, or ask the person for what is needed of it.`;
}

/** Only our own sentences and the system's codes: a server's words stay out of the reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  if ('code' in error && typeof error.code === 'string')
    return `the connection failed (${error.code})`;
  return error.message;
}

export const WEB_LIMITS = {
  /** Milliseconds for a page with all its redirects. */
  maxMs: 6 * SECOND,
  /** Redirects to follow: sites need one or two. */
  maxRedirects: 5,
  /** Bytes of a page: the text of a long manual page with its markup. */
  maxBytes: 1024 * KIB,
  /** Bytes of a response's head. */
  maxHeadBytes: 16 * KIB,
} as const;
