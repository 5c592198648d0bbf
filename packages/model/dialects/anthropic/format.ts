/** Writes requests of Anthropic's Messages API. */

import { isObject } from '../../../../shared/text/json.ts';
import { UPSTREAM_LIMITS } from '../../limits.ts';
import { type JsonObject, objectIn, parseObject } from '../../loose-json.ts';
import type { ServerTarget } from '../../models.ts';
import { maxTokensOf, type UpstreamMessage, type UpstreamRequest } from '../../request.ts';
import { withThoughts } from '../thoughts.ts';

/**
 * The request's body. Where later requests begin like this one, it marks up to four places to cache: the tools, the
 * system prompt, and the ends of this request and of the one before, which are the two newest turns of the user.
 */
export function formatAnthropic(request: UpstreamRequest, target: ServerTarget): object {
  const { messages, sampling = {} } = request;
  const turns = turnsOf(messages, target);
  const system = messages.flatMap((message) =>
    message.role === 'system' ? textBlocks(message.content) : [],
  );
  const offered = request.tools.flatMap((tool): AnthropicBlock[] => {
    if (!('function' in tool)) return [];
    const { name, description, parameters = {} } = tool.function;
    return [{ name, description, input_schema: toInputSchema(parameters) }];
  });
  const tools = offered.length > 0 ? offered : calledTools(turns);
  if (!request.isOnce) {
    const newest = turns.filter(({ role }) => role === 'user').slice(-2);
    for (const list of [tools, system, ...newest.map(({ content }) => content)]) markEnd(list);
  }
  const maxTokens = maxTokensOf(request, target) ?? defaultMaxTokens(target);
  const thinking = thinkingOf(turns, maxTokens, target);
  const temperature = sampling.temperature && Math.min(sampling.temperature, MAX_TEMPERATURE);
  const { effort } = target.switches;
  const { parallelToolCalls = target.switches.parallelToolCalls, topP, stop } = sampling;
  const single = parallelToolCalls === false && { disable_parallel_tool_use: true };
  const choice = offered.length > 0 ? { ...choiceOf(request.demand), ...single } : { type: 'none' };
  return {
    model: target.upstreamId,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools, tool_choice: choice }),
    messages: turns,
    ...(thinking ? { thinking } : { temperature, top_p: topP }),
    stop_sequences: stop,
    ...(effort && { output_config: { effort } }),
    ...(sampling.user !== undefined && { metadata: { user_id: sampling.user } }),
    stream: true,
  };
}

function choiceOf(demand: UpstreamRequest['demand']) {
  if (demand === undefined) return { type: 'auto' };
  return demand === 'required' ? { type: 'any' } : { type: 'tool', name: demand.name };
}

/** The API refuses more, which Chat Completions allows. */
const MAX_TEMPERATURE = 1;

type AnthropicBlock = Record<string, unknown>;

interface AnthropicTurn {
  readonly role: 'user' | 'assistant';
  readonly content: AnthropicBlock[];
}

/** Turns alternate, and the user begins. The results of an answer's calls stand together in the turn behind it. */
function turnsOf(messages: readonly UpstreamMessage[], target: ServerTarget): AnthropicTurn[] {
  const turns: AnthropicTurn[] = [];
  for (const message of messages) {
    const content = blocksOf(message, target);
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (content.length === 0) continue;
    if (turns.length === 0 && role === 'assistant')
      turns.push({ role: 'user', content: textBlocks(BEGINNING) });
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

/** Stands before an answer with which a client's history begins. */
const BEGINNING = '(no message)';

function blocksOf(message: UpstreamMessage, target: ServerTarget): AnthropicBlock[] {
  switch (message.role) {
    case 'user':
      return textBlocks(message.content);
    case 'tool':
      return [
        {
          type: 'tool_result',
          tool_use_id: toId(message.tool_call_id),
          content: textBlocks(message.content),
        },
      ];
    case 'assistant': {
      const calls = (message.tool_calls ?? []).flatMap((call): JsonObject[][] => {
        if (!('function' in call)) return [];
        const { name, arguments: raw } = call.function;
        // The input must be an object. A call whose arguments were none keeps them as text, so that the model sees them.
        const input = parseObject(raw) ?? { arguments: raw };
        return [[{ type: 'tool_use', id: toId(call.id), name, input }]];
      });
      const parts = [textBlocks(message.content), ...calls];
      return withThoughts(message, target, parts).map((block) => ({ ...block }));
    }
    default:
      return []; // The system prompt has its own field.
  }
}

/** The API refuses blank texts. */
function textBlocks(content: UpstreamMessage['content']): AnthropicBlock[] {
  if (typeof content === 'string')
    return content.trim() === '' ? [] : [{ type: 'text', text: content }];
  return (content ?? []).flatMap((part) => {
    if (part.type === 'text') return textBlocks(part.text);
    if (part.type !== 'image_url') return [];
    const { url } = part.image_url;
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    const source =
      data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data };
    return [{ type: 'image', source }];
  });
}

/** Ids of other APIs may hold characters that this one refuses. */
function toId(id: string): string {
  return id.replace(/[^\w-]/g, (char) => `_${char.charCodeAt(0).toString(16)}`);
}

/**
 * The API refuses a whole request for one schema with a choice at its root, which tools of MCP servers have. The
 * properties of all choices move to the root. The arguments are still checked by the tool's own schema.
 */
function toInputSchema(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, ...root } = schema;
  const branches = [anyOf, oneOf, allOf].flat().filter(isObject);
  if (branches.length === 0) return { type: 'object', ...root };
  const choices = [...branches, root].map((branch) => objectIn(branch, 'properties'));
  return { ...root, type: 'object', properties: Object.assign({}, ...choices) };
}

/** A history with calls must have tools, also where none may be called any more: their names. */
function calledTools(turns: readonly AnthropicTurn[]): AnthropicBlock[] {
  const calls = turns.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use'));
  const names = new Set(calls.map(({ name }) => name));
  return Array.from(names, (name) => ({ name, input_schema: { type: 'object' } }));
}

function markEnd(blocks: AnthropicBlock[]): void {
  const last = blocks.at(-1);
  if (last) blocks[blocks.length - 1] = { ...last, cache_control: { type: 'ephemeral' } };
}

/** The API demands a limit. */
function defaultMaxTokens({ switches: { thinking } }: ServerTarget): number {
  const { answerTokens, adaptiveTokens } = UPSTREAM_LIMITS;
  return thinking === 'adaptive' ? adaptiveTokens : answerTokens + (thinking ?? 0);
}

/**
 * Undefined where the model must not think: a budget needs a larger limit of the answer, and an answer with calls that
 * began without thoughts (another model's, for example) cannot be continued with a budget.
 */
function thinkingOf(
  turns: readonly AnthropicTurn[],
  maxTokens: number,
  { switches: { thinking } }: ServerTarget,
): object | undefined {
  if (thinking === undefined) return undefined;
  if (thinking === 'adaptive') return { type: 'adaptive', display: 'summarized' };
  const last = turns.findLast(({ role }) => role === 'assistant')?.content ?? [];
  const calls = last.some(({ type }) => type === 'tool_use');
  const isFit = !calls || /thinking$/.test(String(last[0]?.['type']));
  return isFit && thinking < maxTokens ? { type: 'enabled', budget_tokens: thinking } : undefined;
}
