/** Builds the objects of OpenAI's Chat Completions, typed by the `openai` package. */
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import type { Words } from '../../shared/shown/markdown.ts';
import type { Usage } from '../../shared/wire/documents.ts';
import type { AnswerUsage } from '../words/answer-usage.ts';
import type { FinishReason } from '../words/ending.ts';
import type { ClientCall } from './client-tools.ts';

/** The fields that every chunk of a completion repeats. Only `model` may change, if a fallback takes over. */
export interface CompletionHead {
  /** `chatcmpl-` and the UUID of the response. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The model that answers: the requested one or a fallback. */
  readonly model: string;
}

/** `reasoning_content` is the name of DeepSeek's API, which most clients know. */
type Delta = ChatCompletionChunk.Choice.Delta & { reasoning_content?: string };

/** Leaves out `usage` if the upstream reports none: zeros would be false. */
export function newCompletion(
  head: CompletionHead,
  { content, reasoning, calls }: Words & { readonly calls: readonly ClientCall[] },
  finishReason: FinishReason,
  usage: AnswerUsage | null,
): ChatCompletion {
  const message = {
    role: 'assistant' as const,
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls.map(toToolCall) }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage && { usage: toUsage(usage), drawbridge_usage: toRunUsage(usage) }),
  };
}

/** A call of a tool of the app. */
export function toToolCall({ id, kind, name, arguments: args }: ClientCall) {
  return kind === 'custom'
    ? { id, type: 'custom' as const, custom: { name, input: args } }
    : { id, type: 'function' as const, function: { name, arguments: args } };
}

/** `withUsage`: the client asked for usage, so every chunk but the last has `usage: null`. */
export function newChunk(
  head: CompletionHead,
  delta: Delta,
  finishReason: FinishReason | null,
  withUsage: boolean,
): ChatCompletionChunk {
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...(withUsage && { usage: null }),
  };
}

/** The last chunk for a client that asked for usage. */
export function newUsageChunk(head: CompletionHead, usage: AnswerUsage): ChatCompletionChunk {
  const own = { drawbridge_usage: toRunUsage(usage) };
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: toUsage(usage), ...own };
}

/** The sums of all requests of the run so far: what it costs. */
export interface RunUsage extends Pick<Usage, 'cost'> {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export function toRunUsage({ run }: AnswerUsage): RunUsage {
  return {
    prompt_tokens: run.promptTokens,
    completion_tokens: run.completionTokens,
    total_tokens: run.totalTokens,
    ...(run.cost && { cost: run.cost }),
  };
}

function toUsage(usage: AnswerUsage): CompletionUsage {
  const { promptTokens, completionTokens } = usage;
  const { cachedPromptTokens: cached, reasoningTokens: reasoning } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
