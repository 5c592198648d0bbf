/** Reduces upstream errors of every shape seen to one line. public-error.ts decides what a client sees of it. */

import { isObject } from '../../shared/text/json.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../shared/units.ts';
import { CONTEXT_LENGTH_EXCEEDED, isContextOverflow } from './context-overflow.ts';
import { UPSTREAM_LIMITS } from './limits.ts';
import { countIn, type JsonObject, listIn, objectIn, parseJson, textIn } from './loose-json.ts';

/** An upstream's error, in its own words. */
export interface UpstreamError {
  /** One line, never markup, within {@link UPSTREAM_LIMITS}. */
  readonly message: string;
  /** The upstream's own code, or {@link CONTEXT_LENGTH_EXCEEDED}. */
  readonly code: string | null;
  readonly type: string | null;
  /** The HTTP status. Some servers write it only into the body. */
  readonly status: number | null;
  /** The field of the request that it names, as a path. */
  readonly param?: string;
  /** All words, also those that a gateway quotes, to be read and never shown. */
  readonly words?: string;
  /** Milliseconds that the body says to wait. */
  readonly waitMs?: number;
}

/** Reads the body of a response that is not an answer. `status` is the response's; an error can come with a 200. */
export function normaliseError(
  status: number,
  contentType: string | null,
  bodyText: string,
): UpstreamError {
  const isMarkup = contentType?.includes('html') ?? false;
  const error = errorOf(isMarkup ? '' : parseBody(bodyText));
  if (status < 400) return { ...error, message: error.message || NO_ANSWER };
  return {
    ...error,
    message: error.message || `The model server answered HTTP ${status}.`,
    status,
  };
}

/** Reads the text of an `error` line or event: JSON of any shape, or plain words. */
export function errorFromText(text: string): UpstreamError {
  const error = errorOf(parseBody(text));
  return { ...error, message: error.message || UNSAID };
}

/** The error that a chunk holds beside an answer or instead of one; null for a healthy chunk. */
export function errorInChunk(chunk: JsonObject): UpstreamError | null {
  if (!isMeant(chunk['error']) && !isBareError(chunk)) return null;
  const error = errorOf(chunk);
  return { ...error, message: error.message || UNSAID };
}

const NO_ANSWER = 'The model server sent something that is not an answer.';
const UNSAID = 'The model server reported an error without a message.';

/** False for `error: null`, and for an empty `error`, which a few servers send. */
function isMeant(error: unknown): boolean {
  return isObject(error)
    ? Object.keys(error).length > 0
    : typeof error === 'string' && error !== '';
}

/** Whether `{"object": "error", …}`, `{"code", "message", "type"}` or `{"detail"}` came instead of a chunk. */
function isBareError(chunk: JsonObject): boolean {
  if (chunk['object'] === 'error') return true;
  if (chunk['choices'] !== undefined || chunk['usage'] !== undefined) return false;
  if (chunk['detail'] !== undefined) return true;
  return textIn(chunk, 'message') !== '' && ('code' in chunk || 'type' in chunk);
}

/** Parses JSON, an event stream with one event, or plain words. Broken JSON gives ''. */
function parseBody(text: string): unknown {
  const event = /^(?:data|error): ?(\{.*)$/m.exec(text)?.[1] ?? text;
  return parseJson(event) ?? (/^\s*[[{]/.test(event) ? '' : text);
}

/** `message` is '' if none was found. */
function errorOf(body: unknown): UpstreamError {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const inner = isObject(outer) && isMeant(outer['error']) ? outer['error'] : outer;
  const fields = [inner, outer].find(isObject) ?? {};
  const code = fields['code'];
  const type = textIn(fields, 'type') || null;
  const words = messageOf(inner) || messageOf(outer);
  const quoted = textIn(objectIn(fields, 'metadata'), 'raw'); // OpenRouter: the provider's own words
  const named = typeof code === 'string' || typeof code === 'number' ? String(code) : null;
  const all = `${words}\n${quoted}`.trim();
  const waitMs = waitIn(fields, all);
  const param = paramIn(fields) || paramIn(isObject(outer) ? outer : {});
  const message = presentable(words);
  return {
    message,
    code: isContextOverflow([named, type], all) ? CONTEXT_LENGTH_EXCEEDED : named,
    type,
    status: statusIn(fields),
    ...(param !== '' && { param }),
    ...(waitMs !== undefined && { waitMs }),
    ...((quoted !== '' || words.length > UPSTREAM_LIMITS.maxErrorChars) && {
      words: all.slice(0, UPSTREAM_LIMITS.maxErrorWords),
    }),
  };
}

/** Google's `RetryInfo`, a field `retry_after` in seconds, or a time in words: "try again in 1m30.5s". */
function waitIn(fields: JsonObject, words: string): number | undefined {
  const details = listIn(fields, 'details').filter(isObject);
  const delay = details.map((detail) => textIn(detail, 'retryDelay')).find(Boolean);
  const seconds = fields['retry_after'];
  if (typeof seconds === 'number' && seconds >= 0) return seconds * SECOND;
  return millisOf(delay ?? AGAIN_IN.exec(words)?.[1] ?? '');
}

const AGAIN_IN =
  /\b(?:try again|retry|wait|available|resets?)\b[^.\d]{0,40}?((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])\s*)+)/i;

/** Undefined where the text names no time. */
function millisOf(text: string): number | undefined {
  const parts = Array.from(text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi), ([, count, unit]) => {
    const name = unit?.toLowerCase() ?? '';
    const [, ms] = UNITS.find(([names]) => names.test(name)) ?? [];
    return Number(count) * (ms ?? Number.NaN);
  });
  const sum = parts.reduce((all, part) => all + part, 0);
  return parts.length > 0 && Number.isFinite(sum) ? sum : undefined;
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milli)/, 1],
  [/^s/, SECOND],
  [/^m/, MINUTE],
  [/^h/, HOUR],
  [/^d/, DAY],
];

/** OpenAI's `param`, or the `loc` of the first error of a list (FastAPI, Mistral). */
function paramIn(fields: JsonObject): string {
  const param = textIn(fields, 'param');
  if (param !== '') return param;
  const lists = [fields, objectIn(fields, 'message')].map((one) => listIn(one, 'detail'));
  const first: unknown = lists.find((list) => list.length > 0)?.[0];
  const place = isObject(first) ? listIn(first, 'loc') : [];
  return place.filter((part) => part !== 'body').join('.');
}

/** The message from any known field. FastAPI's `detail` and Mistral's `message` can be lists of errors. */
function messageOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth === UPSTREAM_LIMITS.maxErrorDepth) return '';
  const messages = Array.isArray(value)
    ? value.map((item) => messageOf(item, depth + 1)).filter((message) => message !== '')
    : MESSAGE_FIELDS.map((name) => (isObject(value) ? messageOf(value[name], depth + 1) : ''));
  return Array.isArray(value) ? messages.join('; ') : (messages.find((text) => text !== '') ?? '');
}

const MESSAGE_FIELDS = ['message', 'msg', 'detail', 'error', 'errors'] as const;

function statusIn(error: JsonObject): number | null {
  for (const name of ['status_code', 'status', 'code']) {
    const status = countIn(error, name) ?? Number(textIn(error, name));
    if (status >= 400 && status < 600) return status;
  }
  return null;
}

/** One line within `maxErrorChars`; '' for markup, which proxies send. */
function presentable(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim().toWellFormed();
  if (/^<|<(?:!doctype|html|head|body)\b/i.test(line)) return '';
  const { maxErrorChars } = UPSTREAM_LIMITS;
  if (line.length <= maxErrorChars) return line;
  return `${line.slice(0, maxErrorChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
