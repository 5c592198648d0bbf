/** Builds the objects of OpenAI's Responses, typed by the `openai` package. */
import type {
  Response as OpenAiResponse,
  ResponseOutputItem,
  ResponseUsage,
} from 'openai/resources/responses/responses';
import type { Words } from '../../../shared/shown/markdown.ts';
import { SECOND } from '../../../shared/units.ts';
import type { AnswerUsage } from '../../words/answer-usage.ts';
import type { Failure, FinishReason } from '../../words/ending.ts';
import type { ClientCall } from '../client-tools.ts';
import { type RunUsage, toRunUsage } from '../completion.ts';
import { itemId } from './ids.ts';

/** What stays the same from the first event of a response to its last. */
export interface ResponseHead {
  /** See {@link itemId}. */
  readonly name: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly instructions: string | null;
  /** As the client named it. */
  readonly previous: string | null;
  readonly isKept: boolean;
  /** What the request asked for and the answer was made with. */
  readonly used: UsedSettings;
}

/** Settings as the answer repeats them. */
export type UsedSettings = Pick<
  WireResponse,
  | 'temperature'
  | 'top_p'
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'max_output_tokens'
  | 'text'
  | 'safety_identifier'
>;

/** What changes. */
export interface ResponseState {
  readonly model: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly ResponseOutputItem[];
  readonly usage?: AnswerUsage | null | undefined;
  readonly reason?: FinishReason;
  readonly failure?: Failure;
}

/** As on the wire, with all that Open Responses requires: `output_text` is of OpenAI's clients. */
export type WireResponse = Omit<OpenAiResponse, 'output_text' | 'access_programs' | 'usage'> & {
  readonly usage: ResponseUsage | null;
  readonly store: boolean;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly drawbridge_usage?: RunUsage;
};

export function newResponse(
  { name, created, instructions, previous, isKept, used }: ResponseHead,
  { model, status, output, usage, reason, failure }: ResponseState,
): WireResponse {
  return {
    id: `resp_${name}`,
    object: 'response',
    created_at: created,
    completed_at: status === 'completed' ? Math.floor(Date.now() / SECOND) : null,
    status,
    model,
    instructions,
    previous_response_id: previous,
    output: [...output],
    // Of OpenAI's list of codes only this one is about a server; the message has ours.
    error: failure
      ? { code: 'server_error', message: `${failure.code}: ${failure.message}` }
      : null,
    incomplete_details: status === 'incomplete' ? { reason: CUT[reason ?? 'length'] } : null,
    usage: usage ? toUsage(usage) : null,
    ...(usage && { drawbridge_usage: toRunUsage(usage) }),
    store: isKept,
    metadata: {},
    ...used,
    ...NEVER_ASKED,
  };
}

/** Settings that no request of Drawbridge to a model has, as their standards. A long conversation is compacted. */
const NEVER_ASKED = {
  truncation: 'auto',
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  reasoning: null,
  max_tool_calls: null,
  background: false,
  service_tier: 'default',
  prompt_cache_key: null,
} as const;

const CUT = {
  stop: 'max_output_tokens',
  tool_calls: 'max_output_tokens',
  length: 'max_output_tokens',
  content_filter: 'content_filter',
} as const;

/** The output of a whole answer: its reasoning, if there is any, its text, and the calls that it ends with. */
export function outputOf(
  name: string,
  { content, reasoning }: Words,
  calls: readonly ClientCall[],
): ResponseOutputItem[] {
  const thought = reasoning === '' ? [] : [newItem('rs', name, 0, reasoning)];
  const isSaid = content !== '' || calls.length === 0;
  const said = isSaid ? [newItem('msg', name, thought.length, content)] : [];
  const items = [...thought, ...said];
  return [...items, ...calls.map((call, index) => newCall(name, items.length + index, call))];
}

/** A call of a tool of the app. */
export function newCall(
  name: string,
  index: number,
  { id: call_id, kind, name: tool, namespace, arguments: args }: ClientCall,
) {
  const called = { call_id, name: tool, ...(namespace !== undefined && { namespace }) };
  const status = 'completed' as const;
  return kind === 'custom'
    ? {
        id: itemId('ctc', name, index),
        type: 'custom_tool_call' as const,
        ...called,
        input: args,
        status,
      }
    : {
        id: itemId('fc', name, index),
        type: 'function_call' as const,
        ...called,
        arguments: args,
        status,
      };
}

/** A finished item. */
export function newItem(
  kind: 'msg' | 'rs',
  name: string,
  index: number,
  text: string,
): ResponseOutputItem {
  const id = itemId(kind, name, index);
  if (kind === 'rs') return { id, type: 'reasoning', summary: [{ type: 'summary_text', text }] };
  const content = [{ type: 'output_text' as const, text, annotations: [], logprobs: [] }];
  return { id, type: 'message', role: 'assistant', status: 'completed', content };
}

function toUsage(usage: AnswerUsage): ResponseUsage {
  const { promptTokens, completionTokens } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedPromptTokens ?? 0, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
