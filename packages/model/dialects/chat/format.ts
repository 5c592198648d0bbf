/** Writes requests of Chat Completions. */
import type { ServerTarget } from '../../models.ts';
import { maxTokensOf, type UpstreamMessage, type UpstreamRequest } from '../../request.ts';
import { type AssistantMessage, isThought } from '../thoughts.ts';
import { inTurns, partsOf } from './shape.ts';

/** The request's body. */
export function formatChat(request: UpstreamRequest, target: ServerTarget): object {
  const { tools, sampling = {}, isOnce, demand } = request;
  const { streamOptions, maxTokensField, effort, store } = target.switches;
  const { temperature, topP, stop, seed, user } = sampling;
  const { parallelToolCalls = target.switches.parallelToolCalls } = sampling;
  const withTools = tools.length > 0;
  const messages = inTurns(withSystem(request.messages, target), target).map((message) =>
    message.role === 'assistant' ? formatAnswer(message, target) : message,
  );
  return {
    model: target.upstreamId,
    messages: target.switches.cacheControl && !isOnce ? marked(messages) : messages,
    ...(withTools && { tools, tool_choice: choiceOf(demand) }),
    ...(withTools && parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    temperature,
    top_p: topP,
    stop,
    seed,
    user,
    reasoning_effort: effort,
    store,
    [maxTokensField]: maxTokensOf(request, target),
    stream: true,
    ...(streamOptions && { stream_options: { include_usage: true } }),
  };
}

function choiceOf(demand: UpstreamRequest['demand']) {
  if (typeof demand !== 'object') return demand ?? 'auto';
  return { type: 'function', function: { name: demand.name } };
}

/** The messages with the system prompt, which comes first, in the role that the server takes. */
function withSystem(
  messages: readonly UpstreamMessage[],
  { switches: { systemRole } }: ServerTarget,
): readonly UpstreamMessage[] {
  const [first, ...said] = messages;
  if (first?.role !== 'system' || systemRole === 'system') return messages;
  if (systemRole === 'developer') return [{ ...first, role: systemRole }, ...said];
  const [next, ...rest] = said;
  const system = partsOf(first.content);
  if (next?.role !== 'user') return [{ role: 'user', content: system }, ...said];
  return [{ role: 'user', content: [...system, ...partsOf(next.content)] }, ...rest];
}

/** Leaves out other dialects' thoughts. A server that wants reasoning gets the field each time, if need be empty. */
function formatAnswer(message: AssistantMessage, target: ServerTarget): AssistantMessage {
  const { reasoningField: field } = target.switches;
  const { reasoning = '', reasoning_details: details, ...said } = message;
  const own = details?.filter((detail) => !isThought(detail)) ?? [];
  return {
    ...said,
    ...(own.length > 0 && { reasoning_details: own }),
    ...(field !== 'none' && { [field]: reasoning }),
  };
}

/** Marks where to cache: the system prompt, the user's newest message, the newest result as a whole. */
function marked(messages: readonly UpstreamMessage[]): object[] {
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => {
    if (message.role === 'system' || index === newest) return withMarkedText(message);
    const isLast = index === messages.length - 1;
    return isLast && message.role === 'tool' ? { ...message, cache_control: MARK } : message;
  });
}

const MARK = { type: 'ephemeral' };

function withMarkedText(message: UpstreamMessage): object {
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const last = parts.findLastIndex(({ type }) => type === 'text');
  return {
    ...message,
    content: parts.map((part, index) => (index === last ? { ...part, cache_control: MARK } : part)),
  };
}
