/** Reads untrusted JSON: a field of an unexpected type counts as missing. */

import { isObject, parseJson as parseBounded, parsePruned } from '../../shared/text/json.ts';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import { UPSTREAM_LIMITS } from './limits.ts';

/** Any JSON object; nothing is known of its fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The JSON object in `text`, else undefined. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** The JSON value in `text`; undefined if `text` is not JSON, or nests deeper than JSON_LIMITS.maxDepth. */
export function parseJson(text: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    // Expected: servers often send broken JSON.
    return undefined;
  }
}

/** The JSON object of a chunk or a completion, without values that lie too deep; else undefined. */
export function parseEnvelope(text: string): JsonObject | undefined {
  try {
    const value = parsePruned(text, JSON_LIMITS.maxDepth + JSON_LIMITS.envelope);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // Expected, as above.
  }
}

/** The object under `name`, else an empty one. */
export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : NOTHING;
}

/** The string under `name`, else ''. */
export function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** The array under `name`, else an empty one. */
export function listIn(object: JsonObject, name: string): readonly unknown[] {
  const value: unknown = object[name];
  return Array.isArray(value) ? value : NO_ITEMS;
}

/** The natural number under `name`, else undefined. */
export function countIn(object: JsonObject, name: string): number | undefined {
  const value = object[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The number of tokens under `name`, else undefined. No sum of such numbers may become inexact. */
export function tokensIn(object: JsonObject, name: string): number | undefined {
  const count = countIn(object, name);
  return count !== undefined && count <= UPSTREAM_LIMITS.maxTokens ? count : undefined;
}

const NOTHING: JsonObject = {};
const NO_ITEMS: readonly unknown[] = [];
