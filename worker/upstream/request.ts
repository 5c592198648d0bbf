/** What is sent to a model: Chat Completions as the `openai` package types it, and the few fields beyond. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { Sampling } from '../../shared/requests.ts';
import type { OpenAiTarget } from './models.ts';

/** An assistant's message may carry back what its upstream needs to see again (facts on OpenRouter, Gemini, DeepSeek). */
export type UpstreamMessage =
  | Exclude<ChatCompletionMessageParam, ChatCompletionAssistantMessageParam>
  | (ChatCompletionAssistantMessageParam & {
      readonly reasoning_details?: readonly unknown[];
      /** What the model thought, in words: sent under the name that its server wants, or not at all. */
      readonly reasoning?: string;
    });

export interface UpstreamRequest {
  /** As it was asked for; its server may know it by another name. */
  readonly model: string;
  readonly messages: readonly UpstreamMessage[];
  readonly tools: readonly ChatCompletionTool[];
  /** As the client wants it. */
  readonly sampling?: Sampling | undefined;
}

/** The request's body. Lone surrogates are replaced: several providers answer them with a 400. */
export function formatRequest(
  { messages, tools, sampling = {} }: UpstreamRequest,
  { upstreamId, maxOutputTokens, switches }: OpenAiTarget,
): string {
  const { streamOptions, maxTokensField, parallelToolCalls, reasoningField } = switches;
  const { temperature, maxTokens, user } = sampling;
  const withTools = tools.length > 0;
  return stringify({
    model: upstreamId,
    messages: messages.map((message) => formatMessage(message, reasoningField)),
    ...(withTools && { tools, tool_choice: 'auto' }),
    ...(withTools && parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    temperature,
    user,
    [maxTokensField]: leastOf(maxOutputTokens, maxTokens),
    stream: true,
    ...(streamOptions && { stream_options: { include_usage: true } }),
  });
}

function leastOf(...limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** A lone surrogate comes out as an escape, and hardly any text spells that one: only then is every string looked at. */
function stringify(body: object): string {
  const text = JSON.stringify(body);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}

/** A server that wants reasoning wants the field in each of the assistant's messages, empty where another model said them. */
function formatMessage(
  message: UpstreamMessage,
  field: OpenAiTarget['switches']['reasoningField'],
): object {
  if (message.role !== 'assistant') return message;
  if (field === 'none' && message.reasoning === undefined) return message;
  const { reasoning = '', ...said } = message;
  return field === 'none' ? said : { ...said, [field]: reasoning };
}
