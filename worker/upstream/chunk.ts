/** One chunk of an answer: every field may be missing, null, empty or of another type than documented. */
import type { Usage } from '../../shared/documents.ts';
import type { CallDelta } from './assembly.ts';
import { errorInChunk, type UpstreamError } from './errors.ts';
import { countIn, isObject, type JsonObject, listIn, objectIn, textIn } from './loose-json.ts';

/** What a chunk says about the first choice; '' and [] where it says nothing. */
export interface Chunk {
  readonly text: string;
  readonly reasoning: string;
  /** OpenRouter's form of reasoning, which its models want to see again. */
  readonly reasoningDetails: readonly unknown[];
  readonly calls: readonly CallDelta[];
  readonly finishReason: string;
  /** Why the model behind a gateway ended; it can contradict the gateway's own reason. */
  readonly nativeFinishReason: string;
  readonly usage: Usage | null;
  readonly error: UpstreamError | null;
}

/** `part` is where the words stand: `delta` in a stream, `message` in a whole completion. */
export function readChunk(chunk: JsonObject, part: 'delta' | 'message'): Chunk {
  const choice = firstChoice(chunk);
  const delta = objectIn(choice, part);
  const content = readContent(delta['content']);
  return {
    text: content.text + textIn(delta, 'refusal'),
    reasoning:
      content.reasoning || textIn(delta, 'reasoning_content') || textIn(delta, 'reasoning'),
    reasoningDetails: listIn(delta, 'reasoning_details'),
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

/** Never by position: with several choices the first to come can be any. */
function firstChoice(chunk: JsonObject): JsonObject {
  for (const choice of listIn(chunk, 'choices')) {
    if (isObject(choice) && (choice['index'] ?? 0) === 0) return choice;
  }
  return {};
}

/** A string, or typed parts (Mistral), which may hold parts themselves. */
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
  const legacy = delta['function_call'];
  return isObject(legacy) ? [...calls, { index: LEGACY_INDEX, ...readFunction(legacy) }] : calls;
}

/** The slot of the one call that `function_call` can make, where no real index is. */
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

/** Tokens as the upstream counts them: its total can hold more than both others. Null where it counts nothing. */
function readUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const prompt = countIn(usage, 'prompt_tokens');
  const completion = countIn(usage, 'completion_tokens');
  if (prompt === undefined && completion === undefined) return null;
  const cached =
    countIn(objectIn(usage, 'prompt_tokens_details'), 'cached_tokens') ??
    countIn(usage, 'prompt_cache_hit_tokens') ??
    countIn(usage, 'cached_tokens');
  const reasoning =
    countIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens') ??
    countIn(usage, 'reasoning_tokens');
  return {
    promptTokens: prompt ?? 0,
    completionTokens: completion ?? 0,
    totalTokens: countIn(usage, 'total_tokens') ?? (prompt ?? 0) + (completion ?? 0),
    ...(cached !== undefined && { cachedPromptTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}
