/** What is sent to a model: Chat Completions as the `openai` package types it, and the few fields beyond. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { OpenAiTarget } from './models.ts';

/** An assistant's message may carry back what its upstream needs to see again (facts on OpenRouter, Gemini, DeepSeek). */
export type UpstreamMessage =
  | Exclude<ChatCompletionMessageParam, ChatCompletionAssistantMessageParam>
  | (ChatCompletionAssistantMessageParam & { readonly reasoning_details?: readonly unknown[] });

export interface UpstreamRequest {
  /** As it was asked for; its server may know it by another name. */
  readonly model: string;
  readonly messages: readonly UpstreamMessage[];
  readonly tools: readonly ChatCompletionTool[];
}

/** The request's body. Lone surrogates are replaced: several providers answer them with a 400. */
export function formatRequest(
  { messages, tools }: UpstreamRequest,
  { upstreamId, maxOutputTokens, switches }: OpenAiTarget,
): string {
  const { streamOptions, maxTokensField, parallelToolCalls } = switches;
  const withTools = tools.length > 0;
  return JSON.stringify(
    {
      model: upstreamId,
      messages,
      ...(withTools && { tools, tool_choice: 'auto' }),
      ...(withTools &&
        parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
      ...(maxOutputTokens !== undefined && { [maxTokensField]: maxOutputTokens }),
      stream: true,
      ...(streamOptions && { stream_options: { include_usage: true } }),
    },
    (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value),
  );
}
