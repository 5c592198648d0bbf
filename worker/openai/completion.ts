/** The objects of OpenAI's Chat Completions, held against the types of its own package. */
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import type { Usage } from '../../shared/documents.ts';
import type { Words } from './markdown.ts';

/** What every chunk of one completion repeats, but that another model may have taken over between two of them. */
export interface CompletionHead {
  /** `chatcmpl-` and the UUID of the response. */
  readonly id: string;
  /** In seconds. */
  readonly created: number;
  /** The one that answers: a fallback has taken over where it is not the one that was asked for. */
  readonly model: string;
}

/** Of the words that OpenAI has for it, those that an agent with tools of its own can need. */
export type FinishReason = 'stop' | 'length' | 'content_filter';

/** `reasoning_content` is what DeepSeek's API calls it, and most clients know that name. */
type Delta = ChatCompletionChunk.Choice.Delta & { reasoning_content?: string };

/** Without `usage` where the upstream reports none: zeros would be a lie. */
export function newCompletion(
  head: CompletionHead,
  { content, reasoning }: Words,
  finishReason: FinishReason,
  usage: Usage | null,
): ChatCompletion {
  const message = {
    role: 'assistant' as const,
    content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage && { usage: toUsage(usage) }),
  };
}

/** `withUsage` is what the client asked for: then every chunk but the last says that it has none. */
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

/** The last chunk, for a client that asked for it. */
export function newUsageChunk(head: CompletionHead, usage: Usage): ChatCompletionChunk {
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: toUsage(usage) };
}

function toUsage(usage: Usage): CompletionUsage {
  const { cachedPromptTokens: cached, reasoningTokens: reasoning } = usage;
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
