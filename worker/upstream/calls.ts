/** The calls of an answer that has ended: with unique ids, parsed arguments, and word of why one may not run. */
import { nestsDeeper, tooDeep } from '../../shared/json.ts';
import { JSON_LIMITS } from '../../shared/limits.ts';
import type { GatheredCall } from './assembly.ts';
import { isObject, type JsonObject, parseJson, parseObject } from './loose-json.ts';
import type { ReplyOutcome } from './outcome.ts';

/** A call as it is logged, shown and sent back. */
export interface UpstreamCall {
  /** The upstream's, or a new one where it gave none or gave it twice. Unique within the answer. */
  readonly id: string;
  /** As the model wrote it; not checked against any tool. */
  readonly name: string;
  /** JSON text that can be sent back, or what came where that was no object. */
  readonly rawArguments: string;
  /** Null where what came is no object. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** False for a call of an answer that did not end well, without a name or without arguments that can be read. */
  readonly mayExecute: boolean;
  /** For the model, where it may not. */
  readonly problem?: string;
  /** Fields to be sent back with it, as they came. */
  readonly extra?: JsonObject;
}

/** Stands in for a name that never came, so that the call can be shown and sent back. */
const UNNAMED_TOOL = 'unnamed_tool';

/** Nine letters and digits of a UUID: an id that every upstream takes. Mistral takes no other. */
export function toCallId(uuid: string): string {
  return uuid.replaceAll('-', '').slice(-CALL_ID_CHARS);
}

const CALL_ID_CHARS = 9;

/** The calls in order. `newId` is asked again until its id is unused. */
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

/** Whether the arguments have come to their end: an object, also one that nests too deeply, or nothing at all. */
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
  const problem = problemOf(outcome, name, raw, parsed);
  return {
    id,
    name: name ?? UNNAMED_TOOL,
    rawArguments: parsed && !isBlank(raw) && !parseObject(raw) ? JSON.stringify(parsed) : raw,
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
 * The object that the arguments mean, or null where they mean none: only mistakes that leave no doubt are mended.
 * Nothing at all means an empty object, also where more was about to come: then the outcome keeps the call from running.
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

/** What is too deep is not parsed, so whether it is whole is not known: it is taken to be, as its call is not run. */
function isTooDeep(raw: string): boolean {
  const value = parseJson(raw);
  return nestsDeeper(typeof value === 'string' ? value : raw, JSON_LIMITS.maxDepth);
}

function isBlank(raw: string): boolean {
  return raw.trim() === '';
}

/** The text that stands there twice (a server sent it whole a second time), or ''. */
function halfOf(text: string): string {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : '';
}

/** Half a character, escaped, survives parsing, and would reach files and other servers as it is. */
function wellFormed(text: string, value: JsonObject): JsonObject {
  if (!/\\ud[89a-f]/i.test(text)) return value;
  // A reviver recurses; the text is within the bound, or there were no value.
  return JSON.parse(text, (_, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed() : part,
  );
}
