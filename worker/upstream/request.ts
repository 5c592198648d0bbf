/** Formats a request to a model: Chat Completions as the `openai` package types it, and a few more fields. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { Sampling } from '../../shared/requests.ts';
import type { OpenAiTarget } from './models.ts';

/** An assistant's message carries back what its upstream needs to see again (OpenRouter, Gemini, DeepSeek). */
export type UpstreamMessage =
  | Exclude<ChatCompletionMessageParam, ChatCompletionAssistantMessageParam>
  | (ChatCompletionAssistantMessageParam & {
      readonly reasoning_details?: readonly unknown[];
      /** The reasoning in words. Sent under the name of the switch `reasoningField`, or left out. */
      readonly reasoning?: string;
    });

export interface UpstreamRequest {
  /** The requested name. The server may know the model by another name. */
  readonly model: string;
  readonly messages: readonly UpstreamMessage[];
  readonly tools: readonly ChatCompletionTool[];
  /** The client's settings. */
  readonly sampling?: Sampling | undefined;
}

/** The request's body. Replaces lone surrogates: several providers refuse them with a 400. */
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

/** JSON.stringify escapes a lone surrogate as `\ud…`. Hardly any other text contains that, so the slow path is rare. */
function stringify(body: object): string {
  const text = JSON.stringify(body);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}

/** A server that wants reasoning wants the field in each assistant's message, empty if another model wrote it. */
function formatMessage(
  message: UpstreamMessage,
  field: OpenAiTarget['switches']['reasoningField'],
): object {
  if (message.role !== 'assistant') return message;
  if (field === 'none' && message.reasoning === undefined) return message;
  const { reasoning = '', ...said } = message;
  return field === 'none' ? said : { ...said, [field]: reasoning };
}
