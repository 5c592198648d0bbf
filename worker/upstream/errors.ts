/** Reduces upstream errors of every shape seen to one line. public-error.ts decides what a client sees of it. */

import { isObject } from '../../shared/text/json.ts';
import { CONTEXT_LENGTH_EXCEEDED, isContextOverflow } from './context-overflow.ts';
import { UPSTREAM_LIMITS } from './limits.ts';
import { countIn, type JsonObject, objectIn, parseJson, textIn } from './loose-json.ts';

/** An upstream's error, in its own words. */
export interface UpstreamError {
  /** One line, never markup, within {@link UPSTREAM_LIMITS}. */
  readonly message: string;
  /** The upstream's own code, or {@link CONTEXT_LENGTH_EXCEEDED}. */
  readonly code: string | null;
  readonly type: string | null;
  /** The HTTP status. Some servers write it only into the body. */
  readonly status: number | null;
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
  return {
    message: presentable(words),
    code: isContextOverflow([named, type], `${words}\n${quoted}`) ? CONTEXT_LENGTH_EXCEEDED : named,
    type,
    status: statusIn(fields),
  };
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
