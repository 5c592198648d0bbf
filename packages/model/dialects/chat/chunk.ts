/** Reads answers of Chat Completions: what each chunk says about choice 0. */

import { isObject } from '../../../../shared/text/json.ts';
import type { Usage } from '../../../../shared/wire/documents.ts';
import type { CallDelta } from '../../assembly.ts';
import { errorInChunk } from '../../errors.ts';
import { countIn, type JsonObject, listIn, objectIn, textIn, tokensIn } from '../../loose-json.ts';
import { type AnswerChunk, type AnswerReader, usageOf } from '../dialect.ts';
import { isThought } from '../thoughts.ts';

/** Chunks depend on nothing that came before. */
export const CHAT_READER: AnswerReader = {
  read: (chunk) => readChunk(chunk, 'delta'),
  readWhole: (body) =>
    listIn(body, 'choices').some(isObject) ? [readChunk(body, 'message')] : null,
};

/** `part` names the field that holds the words: `delta` in a stream, `message` in a whole completion. */
function readChunk(chunk: JsonObject, part: 'delta' | 'message'): AnswerChunk {
  const choice = firstChoice(chunk);
  const delta = objectIn(choice, part);
  const content = readContent(delta['content']);
  return {
    text: content.text + textIn(delta, 'refusal'),
    reasoning:
      content.reasoning || textIn(delta, 'reasoning_content') || textIn(delta, 'reasoning'),
    // A thought of another dialect would be sent to that dialect's server as its own.
    reasoningDetails: listIn(delta, 'reasoning_details').filter((detail) => !isThought(detail)),
    calls: readCalls(delta),
    finishReason: textIn(choice, 'finish_reason'),
    nativeFinishReason: textIn(choice, 'native_finish_reason'),
    usage:
      readUsage(chunk['usage']) ??
      readUsage(objectIn(chunk, 'x_groq')['usage']) ??
      readUsage(choice['usage']),
    error: errorInChunk(chunk) ?? errorInChunk({ error: choice['error'] }),
  };
}

/** The choice with index 0. Its position shows nothing: several choices come in any order. */
function firstChoice(chunk: JsonObject): JsonObject {
  for (const choice of listIn(chunk, 'choices')) {
    if (isObject(choice) && (choice['index'] ?? 0) === 0) return choice;
  }
  return {};
}

/** `content` is a string, or typed parts (Mistral), which may hold further parts. */
function readContent(content: unknown): { text: string; reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' };
  let text = '';
  let reasoning = '';
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === 'string') text += part;
    else if (!isObject(part)) continue;
    else if (part['type'] === 'thinking') reasoning += readContent(part['thinking']).text;
    else if (part['type'] === 'refusal') text += textIn(part, 'refusal');
    else if (part['type'] === 'text') text += textIn(part, 'text');
  }
  return { text, reasoning };
}

function readCalls(delta: JsonObject): CallDelta[] {
  const calls = listIn(delta, 'tool_calls').filter(isObject).map(readCall);
  const { name, arguments: sent } = readFunction(objectIn(delta, 'function_call'));
  // Snowflake sends an empty one with each answer.
  return name || sent ? [...calls, { index: LEGACY_INDEX, name, arguments: sent }] : calls;
}

/** The index given to the single call of `function_call`. No real index is negative. */
const LEGACY_INDEX = -1;

function readCall(call: JsonObject): CallDelta {
  const { id: _, index: __, type: ___, function: called, ...rest } = call;
  const extra = Object.entries(rest).filter(([, value]) => value !== null);
  return {
    id: textIn(call, 'id') || undefined,
    index: countIn(call, 'index'),
    ...readFunction(isObject(called) ? called : {}),
    extra: extra.length > 0 ? Object.fromEntries(extra) : undefined,
  };
}

function readFunction(called: JsonObject): Pick<CallDelta, 'name' | 'arguments'> {
  const sent = called['arguments'];
  return {
    name: textIn(called, 'name') || undefined,
    arguments: typeof sent === 'string' || isObject(sent) ? sent : undefined,
  };
}

function readUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const details = objectIn(usage, 'prompt_tokens_details');
  return usageOf({
    prompt: tokensIn(usage, 'prompt_tokens'),
    completion: tokensIn(usage, 'completion_tokens'),
    total: tokensIn(usage, 'total_tokens'),
    cached:
      tokensIn(details, 'cached_tokens') ??
      tokensIn(usage, 'prompt_cache_hit_tokens') ??
      tokensIn(usage, 'cached_tokens'),
    written: tokensIn(details, 'cache_write_tokens'),
    reasoning:
      tokensIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens') ??
      tokensIn(usage, 'reasoning_tokens'),
  });
}
