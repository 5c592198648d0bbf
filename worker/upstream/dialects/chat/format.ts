/** Writes requests of Chat Completions. */
import type { ServerTarget } from '../../models.ts';
import { maxTokensOf, type UpstreamMessage, type UpstreamRequest } from '../../request.ts';

/** The request's body. */
export function formatChat(request: UpstreamRequest, target: ServerTarget): object {
  const { messages, tools, sampling = {} } = request;
  const { streamOptions, maxTokensField, parallelToolCalls, reasoningField } = target.switches;
  const { temperature, user } = sampling;
  const withTools = tools.length > 0;
  return {
    model: target.upstreamId,
    messages: messages.map((message) => formatMessage(message, reasoningField)),
    ...(withTools && { tools, tool_choice: 'auto' }),
    ...(withTools && parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    temperature,
    user,
    [maxTokensField]: maxTokensOf(request, target),
    stream: true,
    ...(streamOptions && { stream_options: { include_usage: true } }),
  };
}

/** A server that wants reasoning wants the field in each assistant's message, empty if another model wrote it. */
function formatMessage(
  message: UpstreamMessage,
  field: ServerTarget['switches']['reasoningField'],
): object {
  if (message.role !== 'assistant') return message;
  if (field === 'none' && message.reasoning === undefined) return message;
  const { reasoning = '', ...said } = message;
  return field === 'none' ? said : { ...said, [field]: reasoning };
}
