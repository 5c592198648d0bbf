/** Writes requests of OpenAI's Responses API. Nothing is stored there: each request has everything. */

import type { JsonObject } from '../../loose-json.ts';
import type { ServerTarget } from '../../models.ts';
import { maxTokensOf, type UpstreamMessage, type UpstreamRequest } from '../../request.ts';
import { withThoughts } from '../thoughts.ts';

/** The request's body. */
export function formatResponses(request: UpstreamRequest, target: ServerTarget): object {
  const { messages, sampling = {} } = request;
  const { effort, returnReasoning } = target.switches;
  const { parallelToolCalls = target.switches.parallelToolCalls } = sampling;
  const tools = request.tools.flatMap((tool) => ('function' in tool ? [tool.function] : []));
  const system = messages.filter(({ role }) => role === 'system');
  return {
    model: target.upstreamId,
    ...(system.length > 0 && { instructions: system.map(({ content }) => content).join('\n\n') }),
    input: messages.flatMap((message) => itemsOf(message, target)),
    ...(tools.length > 0 && {
      // Strict would demand every argument that a tool leaves to the model.
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict: false,
      })),
      tool_choice: choiceOf(request.demand),
      parallel_tool_calls: parallelToolCalls,
    }),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    user: sampling.user,
    max_output_tokens: maxTokensOf(request, target),
    ...(effort && { reasoning: { effort, summary: 'auto' } }),
    store: false,
    ...(returnReasoning && { include: ['reasoning.encrypted_content'] }),
    stream: true,
  };
}

function choiceOf(demand: UpstreamRequest['demand']) {
  return typeof demand === 'object' ? { type: 'function', name: demand.name } : (demand ?? 'auto');
}

function itemsOf(message: UpstreamMessage, target: ServerTarget): object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: contentOf(message.content) }];
    case 'tool': {
      const { tool_call_id: callId, content } = message;
      return [{ type: 'function_call_output', call_id: callId, output: contentOf(content) }];
    }
    case 'assistant': {
      const { content, tool_calls: calls = [] } = message;
      const said = content ? [{ role: 'assistant', content }] : [];
      const called = calls.flatMap((call) => {
        if (!('function' in call)) return [];
        const { name, arguments: args } = call.function;
        return [[{ type: 'function_call', call_id: call.id, name, arguments: args }]];
      });
      return toInput(withThoughts(message, target, [said, ...called]));
    }
    default:
      return []; // The system prompt has its own field.
  }
}

/** Puts a text's phase where newer models want it. Leaves out a thought's status, which OpenAI refuses. */
function toInput(items: readonly JsonObject[]): object[] {
  const phase = items.find(({ type }) => type === 'message')?.['phase'];
  return items.flatMap((item) => {
    if (item['type'] === 'message') return [];
    if (item['role'] === 'assistant') return [{ ...item, phase }];
    const { status: _, ...input } = item;
    return [input];
  });
}

/** A text as it is, or parts with images. */
function contentOf(content: UpstreamMessage['content']): string | object[] {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
    if (part.type !== 'image_url') return [];
    const { url, detail = 'auto' } = part.image_url;
    return [{ type: 'input_image', image_url: url, detail }];
  });
}
