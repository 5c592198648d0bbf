/** Finishes the calls of a whole answer: unique ids, parsed arguments, and a reason if a call may not run. */

import { isObject, nestsDeeper, tooDeep } from '../../shared/text/json.ts';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import type { GatheredCall } from './assembly.ts';
import { type JsonObject, parseJson, parseObject } from './loose-json.ts';
import type { ReplyOutcome } from './outcome.ts';

/** A call as it is logged, shown and sent back. */
export interface UpstreamCall {
  /** The upstream's id, or a new one if the upstream gave none or gave it twice. Unique within the answer. */
  readonly id: string;
  /** As the model wrote it; not checked against any tool. */
  readonly name: string;
  /** JSON text that can be sent back. As it came if it is not an object. */
  readonly rawArguments: string;
  /** Null if the arguments are not an object. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** False if the answer's outcome is not `completed`, or if the call has no name or no readable arguments. */
  readonly mayExecute: boolean;
  /** Says to the model why the call may not run. Set exactly if `mayExecute` is false. */
  readonly problem?: string;
  /** Fields to be sent back with the call, as they came. */
  readonly extra?: JsonObject;
}

/** Replaces a missing name, so that the call can be shown and sent back. */
const UNNAMED_TOOL = 'unnamed_tool';

/** Nine letters and digits of a UUID. Every upstream accepts such an id, and Mistral accepts no other form. */
export function toCallId(uuid: string): string {
  return uuid.replaceAll('-', '').slice(-CALL_ID_CHARS);
}

const CALL_ID_CHARS = 9;

/** The calls in order. Calls `newId` until it returns an unused id. */
export function finishCalls(
  gathered: readonly GatheredCall[],
  outcome: ReplyOutcome,
  newId: () => string,
): UpstreamCall[] {
  const ids = new Set(gathered.flatMap(({ id }) => id ?? []));
  const taken = new Set<string>();
  return gathered.map((call) => {
    const id = call.id === undefined || taken.has(call.id) ? unusedId(ids, newId) : call.id;
    taken.add(id);
    return finishCall(call, id, outcome);
  });
}

/** Whether the arguments are complete: an object (even one that nests too deeply), or nothing at all. */
export function hasWholeArguments({ rawArguments }: GatheredCall): boolean {
  return readArguments(rawArguments) !== null || isTooDeep(rawArguments);
}

function unusedId(ids: Set<string>, newId: () => string): string {
  let id = newId();
  while (ids.has(id)) id = newId();
  ids.add(id);
  return id;
}

function finishCall(call: GatheredCall, id: string, outcome: ReplyOutcome): UpstreamCall {
  const { name, rawArguments: raw, extra } = call;
  const parsed = readArguments(raw);
  const broken = parsed === null ? undefined : halfIn(raw);
  const problem = problemOf(outcome, name, raw, parsed) ?? (broken ? halfAt(broken) : null);
  return {
    id,
    name: name ?? UNNAMED_TOOL,
    rawArguments:
      parsed && !isBlank(raw) && (broken || !parseObject(raw)) ? JSON.stringify(parsed) : raw,
    arguments: parsed,
    mayExecute: problem === null,
    ...(problem !== null && { problem }),
    ...(extra && { extra }),
  };
}

function problemOf(
  outcome: ReplyOutcome,
  name: string | undefined,
  raw: string,
  args: JsonObject | null,
): string | null {
  switch (outcome) {
    case 'truncated':
      return 'Not run: the answer reached its token limit. Ask for less in one answer.';
    case 'filtered':
      return "Not run: the model server's content filter cut the answer.";
    case 'error':
    case 'interrupted':
      return 'Not run: the answer broke off before its end.';
    case 'completed':
      if (name === undefined) return 'Not run: the call names no tool.';
      if (args) return null;
      return isTooDeep(raw)
        ? `Not run: the arguments nest too deeply. ${tooDeep()}.`
        : 'Not run: the arguments are not one whole JSON object.';
    default:
      return outcome satisfies never;
  }
}

/**
 * The object that the arguments mean, or null. Repairs only unambiguous mistakes: `null`, JSON inside a string, and the
 * same text sent twice. Blank arguments mean an empty object. If the answer broke off before the arguments came, its
 * outcome keeps the call from running.
 */
function readArguments(raw: string): JsonObject | null {
  if (isBlank(raw)) return {};
  const text = raw.trim();
  const value = parseJson(text);
  if (isObject(value)) return wellFormed(text, value);
  if (value === null) return {};
  const inner = typeof value === 'string' ? value : halfOf(text);
  const object = parseObject(inner);
  return object ? wellFormed(inner, object) : null;
}

/** Arguments that nest too deeply are not parsed. They count as complete, which is safe: their call never runs. */
function isTooDeep(raw: string): boolean {
  const value = parseJson(raw);
  return nestsDeeper(typeof value === 'string' ? value : raw, JSON_LIMITS.maxDepth);
}

function isBlank(raw: string): boolean {
  return raw.trim() === '';
}

/** Half of a text that consists of two equal halves (some servers send the arguments twice), else ''. */
function halfOf(text: string): string {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : '';
}

/** Replaces lone surrogates: an escaped one survives parsing, and would reach logs and other servers. */
function wellFormed(text: string, value: JsonObject): JsonObject {
  return SURROGATE.test(text) ? (mended(value) as JsonObject) : value;
}

/** Recurses, which is safe: what it is given was parsed within the depth bound. */
function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mended);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name.toWellFormed(), mended(part)]),
  );
}

const SURROGATE = /\\ud[89a-f]/i;

/** The name of the first argument with half of a character; undefined where there is none. */
function halfIn(raw: string): string | undefined {
  if (!SURROGATE.test(raw)) return undefined;
  const value = parseJson(raw);
  const args =
    typeof value === 'string' ? parseJson(value) : (value ?? parseJson(halfOf(raw.trim())));
  return Object.entries(Object(args)).find(([, part]) => hasHalf(part))?.[0];
}

function hasHalf(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, part]) => !name.isWellFormed() || hasHalf(part));
}

/** To run the call with a substitute would write that into a file. */
function halfAt(name: string): string {
  return `Not run: \`${name.toWellFormed()}\` has half of a character, a lone surrogate: write the whole one.`;
}
