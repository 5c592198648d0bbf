/** What a server's refusal of a request is about, told from its status, its names and its words. Pure. */

import { CONTEXT_LENGTH_EXCEEDED, isContextOverflow } from '../context-overflow.ts';
import type { UpstreamError } from '../errors.ts';
import { isAboutKeys } from '../public-error.ts';

/** Whether another form of the same request may be taken: not about a key, a model, an address, a quota or a rate. */
export function isOfRequest(error: UpstreamError): boolean {
  const { status, type } = error;
  if (namesOf(error).some((name) => NOT_OF_REQUEST.test(name))) return false;
  if (status === 403) return isFiltered(error);
  if (status === 413) return true;
  const isRefused = status === null ? type === 'invalid_request_error' : REFUSED.has(status);
  return isRefused && !isAboutKeys(error);
}

const REFUSED: ReadonlySet<number> = new Set([400, 422]);

const NOT_OF_REQUEST =
  /quota|billing|rate_?limit|authenticat|permission|model_not_found|not_found_error|overloaded/i;

/** Whether a filter of the server's has refused what was said. */
export function isFiltered(error: UpstreamError): boolean {
  return [...namesOf(error), wordsOf(error)].some((text) => FILTERED.test(text));
}

const FILTERED =
  /content[_ -]?(?:filter|policy|management)|moderation|safety|data_inspection|sensitive|prohibited_content|responsible ai/i;

/** Whether the request is too long: by the code of {@link isContextOverflow}, or by words about length alone. */
export function isTooLong(error: UpstreamError): boolean {
  if (error.code === CONTEXT_LENGTH_EXCEEDED || error.status === 413) return true;
  const words = wordsOf(error);
  if (isContextOverflow([], words)) return true;
  const path = pathOf(error);
  const isOfWhole = path === '' || OF_WHOLE.test(path);
  return isOfWhole && SUBJECT.test(words) && TOO_LONG.test(words);
}

/** A path that names no more than what was said: `messages`, `messages[3].content`, `input`. */
const OF_WHOLE =
  /^(?:messages|input|prompt|contents)(?:[[.]\d+\]?)*(?:\.(?:content|text|output|arguments)(?:[[.]\d+\]?)*(?:\.text)?)?$/;

const SUBJECT = /\b(?:context|tokens?|prompts?|inputs?)\b/i;
const TOO_LONG =
  /exceed|overflow|\blimit|\bmaximum\b|\bmax\b|\blengths?\b|\bwindow\b|too (?:long|large|many|big)|\blonger\b/i;

/** The field that the error names, as a path into the request: `temperature`, `messages[1].role`; '' without one. */
export function pathOf(error: UpstreamError): string {
  const named = error.param ?? PATH.exec(wordsOf(error))?.slice(1).find(Boolean) ?? '';
  return named.replace(/^body\./, '');
}

/** A path in quotes, or before a colon at the start. */
const PATH =
  /['"`]((?:body\.)?[a-z_]+(?:[[.]\w+\]?)+)['"`]|^([a-z_]+(?:[[.]\w+\]?)+|[a-z]+_[a-z_]+):\s/;

/** All that the server has said, also what it quotes of another one. */
export function wordsOf({ words, message }: UpstreamError): string {
  return words ?? message;
}

function namesOf({ code, type }: UpstreamError): string[] {
  return [code, type].filter((name) => name !== null);
}
