/** Events of Anthropic's Messages and OpenAI's Responses, written by hand after the public documents. */

export interface NativeEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One event of a stream as both APIs send it: its type stands in the name and in the data. */
export function eventFrame(event: NativeEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export interface AnthropicUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
}

export type AnthropicBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: object;
    };

/** A whole answer of the Messages API. */
export function anthropicFrames(
  blocks: readonly AnthropicBlock[],
  stopReason = 'end_turn',
  usage: AnthropicUsage = { input_tokens: 11 },
): string[] {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage };
  const start = { type: 'message_start', message: { ...message, stop_reason: null } };
  const delta = { stop_reason: stopReason, stop_sequence: null };
  const events = [
    start,
    { type: 'ping' },
    ...blocks.flatMap(blockEvents),
    { type: 'message_delta', delta, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];
  return events.map(eventFrame);
}

function blockEvents(block: AnthropicBlock, index: number): NativeEvent[] {
  const [begun, ...deltas] = piecesOf(block);
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** The block as it begins, and its deltas. */
function piecesOf(block: AnthropicBlock): object[] {
  switch (block.type) {
    case 'thinking':
      return [
        { ...block, thinking: '', signature: '' },
        ...halves(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ];
    case 'redacted_thinking':
      return [block];
    case 'text':
      return [
        { ...block, text: '' },
        ...halves(block.text).map((text) => ({ type: 'text_delta', text })),
      ];
    default:
      return [
        { ...block, input: {} },
        ...['', ...halves(JSON.stringify(block.input))].map((partial) => ({
          type: 'input_json_delta',
          partial_json: partial,
        })),
      ];
  }
}

export type ResponseItem =
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
      readonly encrypted_content: string;
    }
  | { readonly type: 'message'; readonly text: string }
  | {
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

/** A whole answer of the Responses API. `end` changes the fields of the response at its end. */
export function responseFrames(
  items: readonly ResponseItem[],
  end: {
    readonly status?: 'completed' | 'incomplete' | 'failed';
    readonly [field: string]: unknown;
  } = {},
): string[] {
  const { status = 'completed' } = end;
  const usage = {
    input_tokens: 11,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 18,
  };
  const response = { id: 'resp_1', object: 'response', status, output: [], usage, error: null };
  const begun = { ...response, status: 'in_progress', usage: null };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(itemEvents),
    { type: `response.${status}`, response: { ...response, ...end } },
  ];
  return events.map((event, sequence) => eventFrame({ ...event, sequence_number: sequence }));
}

function itemEvents(item: ResponseItem, index: number): NativeEvent[] {
  const at = { output_index: index, item_id: `item_${index}` };
  switch (item.type) {
    case 'reasoning':
      return [
        { type: 'response.output_item.added', ...at, item: { ...item, summary: [] } },
        ...item.summary.flatMap(({ text }, part) => [
          { type: 'response.reasoning_summary_part.added', ...at, summary_index: part },
          ...halves(text).map((delta) => ({
            type: 'response.reasoning_summary_text.delta',
            ...at,
            summary_index: part,
            delta,
          })),
          { type: 'response.reasoning_summary_text.done', ...at, summary_index: part, text },
        ]),
        { type: 'response.output_item.done', ...at, item },
      ];
    case 'message': {
      const part = { type: 'output_text', text: item.text, annotations: [] };
      const whole = { id: `item_${index}`, type: 'message', role: 'assistant', content: [part] };
      return [
        { type: 'response.output_item.added', ...at, item: { ...whole, content: [] } },
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        ...halves(item.text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
        { type: 'response.output_text.done', ...at, text: item.text },
        { type: 'response.output_item.done', ...at, item: whole },
      ];
    }
    default:
      return [
        { type: 'response.output_item.added', ...at, item: { ...item, arguments: '' } },
        ...halves(item.arguments).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...at,
          delta,
        })),
        {
          type: 'response.function_call_arguments.done',
          ...at,
          arguments: item.arguments,
        },
        { type: 'response.output_item.done', ...at, item },
      ];
  }
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
