/** Parses JSON from outside with a bound on its depth: no walk over the value can exhaust the stack or the memory. */
import { JSON_LIMITS } from './limits.ts';

/** The text is JSON but nests deeper than allowed. */
export class JsonDepthError extends Error {
  override readonly name = 'JsonDepthError';
  /** The outermost names and indexes on the way to the place that is too deep, innermost last. */
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], maxDepth: number) {
    super(tooDeep(maxDepth));
    this.path = path;
  }
}

/** The message for JSON that nests too deeply: what was expected, and what to do. */
export function tooDeep(maxDepth: number = JSON_LIMITS.maxDepth): string {
  return `JSON may nest ${maxDepth} levels of objects and arrays, and this nests more: make it flatter`;
}

/**
 * The value of a text from outside. Code that takes such a text uses this instead of JSON.parse.
 * @throws {SyntaxError} if the text is not JSON. Its message quotes the text: do not pass it on.
 * @throws {JsonDepthError} if the text nests deeper than `maxDepth`.
 */
export function parseJson(text: string, maxDepth: number = JSON_LIMITS.maxDepth): unknown {
  const isDeep = nestsDeeper(text, maxDepth);
  const value: unknown = JSON.parse(text);
  if (!isDeep) return value;
  throw new JsonDepthError(pathToDepth(value, maxDepth), maxDepth);
}

/** Like {@link parseJson}, and undefined for what it throws at: for a schema that refuses that. */
export function parseIfJson(text: string, maxDepth?: number): unknown {
  try {
    return parseJson(text, maxDepth);
  } catch {
    return undefined;
  }
}

/** Like {@link parseJson}, for text that must be read anyway: {@link LEFT_OUT} replaces values that are too deep. */
export function parsePruned(text: string, maxDepth: number): unknown {
  const value: unknown = JSON.parse(text);
  if (nestsDeeper(text, maxDepth)) prune(value, maxDepth);
  return value;
}

/** Replaces a value that is too deep. */
export const LEFT_OUT = '[left out: nested too deeply]';

/** Whether the text, if it is JSON, nests deeper. One pass without recursion, which skips strings. */
export function nestsDeeper(text: string, maxDepth: number): boolean {
  if (text.length <= 2 * maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (++depth > maxDepth) return true;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth--;
    }
  }
  return false;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The index of the closing quote; the length of the text if there is none. */
function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/**
 * JSON for people: indented by two spaces down to JSON_LIMITS.shownDepth, in one line below that. With more
 * indentation, deep values would be mostly spaces. For a value that JSON.parse could have made.
 */
export function indentedJson(value: unknown, depth = 0): string {
  if (!isHolder(value) || depth >= JSON_LIMITS.shownDepth) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => {
      const text = indentedJson(member ?? null, depth + 1);
      return isArray ? text : `${JSON.stringify(name)}: ${text}`;
    });
  const [open, close] = isArray ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  const line = `\n${'  '.repeat(depth)}`;
  return `${open}${members.map((member) => `${line}  ${member}`).join(',')}${line}${close}`;
}

/** An object or array at this depth of the whole value. */
interface JsonLevel {
  readonly value: object;
  readonly depth: number;
  readonly key: string | number;
  readonly parent: JsonLevel | null;
}

/** Looks no deeper than one level beyond the bound. */
function pathToDepth(value: unknown, maxDepth: number): (string | number)[] {
  for (const level of levelsOf(value, maxDepth + 1)) {
    if (level.depth <= maxDepth) continue;
    const path: (string | number)[] = [];
    for (let at = level; at.parent; at = at.parent) path.unshift(at.key);
    return path.slice(0, JSON_LIMITS.shownPath).map(shortKey);
  }
  return [];
}

function shortKey(key: string | number): string | number {
  return typeof key === 'string' ? key.slice(0, JSON_LIMITS.shownKeyChars).toWellFormed() : key;
}

/** Changes the value in place: JSON.parse has just made it, so no other code has it. */
function prune(value: unknown, maxDepth: number): void {
  for (const { value: holder, depth } of levelsOf(value, maxDepth)) {
    if (depth < maxDepth) continue;
    for (const [key, member] of Object.entries(holder)) {
      if (isHolder(member)) Reflect.set(holder, key, LEFT_OUT);
    }
  }
}

/** All objects and arrays down to `maxDepth`, where the outermost has depth 1. */
function* levelsOf(value: unknown, maxDepth: number): Generator<JsonLevel> {
  const waiting: JsonLevel[] = isHolder(value) ? [{ value, depth: 1, key: '', parent: null }] : [];
  for (let level = waiting.pop(); level; level = waiting.pop()) {
    yield level;
    if (level.depth >= maxDepth) continue;
    const isArray = Array.isArray(level.value);
    for (const [name, member] of Object.entries(level.value)) {
      if (!isHolder(member)) continue;
      const key = isArray ? Number(name) : name;
      waiting.push({ value: member, depth: level.depth + 1, key, parent: level });
    }
  }
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether the value is an object: false for null and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
