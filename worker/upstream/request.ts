/** What is sent to a model: Chat Completions as the `openai` package types it, and the few fields beyond. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';

/** An assistant's message may carry back what its upstream needs to see again (facts on OpenRouter, Gemini, DeepSeek). */
export type UpstreamMessage =
  | Exclude<ChatCompletionMessageParam, ChatCompletionAssistantMessageParam>
  | (ChatCompletionAssistantMessageParam & { readonly reasoning_details?: readonly unknown[] });

export interface UpstreamRequest {
  readonly model: string;
  readonly messages: readonly UpstreamMessage[];
  readonly tools: readonly ChatCompletionTool[];
}

/** The request's body. Lone surrogates are replaced: several providers answer them with a 400. */
export function formatRequest({ model, messages, tools }: UpstreamRequest): string {
  return JSON.stringify(
    {
      model,
      messages,
      ...(tools.length > 0 && { tools, tool_choice: 'auto' }),
      stream: true,
      stream_options: { include_usage: true },
    },
    (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value),
  );
}
