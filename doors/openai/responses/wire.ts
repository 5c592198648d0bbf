/** Streams a response. */
import type { ResponseOutputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { OutputForm } from '../../../shared/api/requests.ts';
import type { Words } from '../../../shared/shown/markdown.ts';
import type { FollowedAnswer } from '../../words/answer-reader.ts';
import type { Ending } from '../../words/ending.ts';
import { type ClientCall, toClientCalls } from '../client-tools.ts';
import { HeldWire } from '../held-wire.ts';
import { itemId } from './ids.ts';
import {
  newCall,
  newItem,
  newResponse,
  type ResponseHead,
  type ResponseState,
} from './response.ts';

/** An event without the number that it gets when it is written. */
type Unnumbered<Event> = Event extends unknown
  ? Omit<Event, 'sequence_number' | 'response'>
  : never;

/** The item that grows. */
interface OpenItem {
  readonly kind: 'msg' | 'rs';
  readonly id: string;
  text: string;
}

/** The events of one response. Text and reasoning take turns as items. */
export class ResponseWire extends HeldWire {
  readonly #head: ResponseHead;
  readonly #output: ResponseOutputItem[] = [];
  #item: OpenItem | null = null;
  #written = 0;

  /** `model` is the requested one. */
  constructor(head: ResponseHead, model: string, form: OutputForm | undefined) {
    super(model, form);
    this.#head = head;
  }

  protected begin(): void {
    this.#report('response.created', { status: 'in_progress' });
    this.#report('response.in_progress', { status: 'in_progress' });
  }

  protected add({ content, reasoning }: Words): void {
    if (reasoning !== '') this.#grow('rs', reasoning);
    if (content !== '') this.#grow('msg', content);
  }

  protected finish(ending: Ending, { response, clientCalls, usage }: FollowedAnswer): void {
    this.#close();
    for (const call of toClientCalls(response?.id ?? '', clientCalls)) this.#call(call);
    if (ending.type === 'failed') {
      this.#report('response.failed', { status: 'failed', usage, failure: ending.failure });
    } else if (ending.reason === 'stop' || ending.reason === 'tool_calls') {
      this.#report('response.completed', { status: 'completed', usage });
    } else {
      this.#report('response.incomplete', { status: 'incomplete', usage, reason: ending.reason });
    }
  }

  #grow(kind: OpenItem['kind'], delta: string): void {
    const item = this.#item?.kind === kind ? this.#item : this.#start(kind);
    item.text += delta;
    if (kind === 'rs') {
      this.#write({ type: 'response.reasoning_summary_text.delta', ...this.#thought, delta });
    } else {
      this.#write({ type: 'response.output_text.delta', ...this.#said, delta, logprobs: [] });
    }
  }

  #start(kind: OpenItem['kind']): OpenItem {
    this.#close();
    const index = this.#output.length;
    const id = itemId(kind, this.#head.name, index);
    const item: OpenItem = { kind, id, text: '' };
    this.#item = item;
    const empty: ResponseOutputItem =
      kind === 'rs'
        ? { id, type: 'reasoning', summary: [] }
        : { id, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    this.#write({ type: 'response.output_item.added', output_index: index, item: empty });
    if (kind === 'rs') {
      const part = { type: 'summary_text' as const, text: '' };
      this.#write({ type: 'response.reasoning_summary_part.added', ...this.#thought, part });
    } else {
      const part = { type: 'output_text' as const, text: '', annotations: [] };
      this.#write({ type: 'response.content_part.added', ...this.#said, part });
    }
    return item;
  }

  #close(): void {
    if (!this.#item) return;
    const { kind, text } = this.#item;
    const index = this.#output.length;
    const item = newItem(kind, this.#head.name, index, text);
    if (item.type === 'reasoning') {
      this.#write({ type: 'response.reasoning_summary_text.done', ...this.#thought, text });
      const part = { type: 'summary_text' as const, text };
      this.#write({ type: 'response.reasoning_summary_part.done', ...this.#thought, part });
    } else {
      this.#write({ type: 'response.output_text.done', ...this.#said, text, logprobs: [] });
      const part = { type: 'output_text' as const, text, annotations: [] };
      this.#write({ type: 'response.content_part.done', ...this.#said, part });
    }
    this.#write({ type: 'response.output_item.done', output_index: index, item });
    this.#output.push(item);
    this.#item = null;
  }

  #call(call: ClientCall): void {
    const index = this.#output.length;
    const item = newCall(this.#head.name, index, call);
    const where = { item_id: item.id, output_index: index };
    const { name, arguments: written } = call;
    const status = 'in_progress' as const;
    if (item.type === 'custom_tool_call') {
      const empty = { ...item, input: '', status };
      this.#write({ type: 'response.output_item.added', output_index: index, item: empty });
      this.#write({ type: 'response.custom_tool_call_input.delta', ...where, delta: written });
      this.#write({ type: 'response.custom_tool_call_input.done', ...where, input: written });
    } else {
      const empty = { ...item, arguments: '', status };
      this.#write({ type: 'response.output_item.added', output_index: index, item: empty });
      this.#write({ type: 'response.function_call_arguments.delta', ...where, delta: written });
      const done = { ...where, name, arguments: written };
      this.#write({ type: 'response.function_call_arguments.done', ...done });
    }
    this.#write({ type: 'response.output_item.done', output_index: index, item });
    this.#output.push(item);
  }

  get #place() {
    return { item_id: this.#item?.id ?? '', output_index: this.#output.length };
  }

  get #said() {
    return { ...this.#place, content_index: 0 };
  }

  get #thought() {
    return { ...this.#place, summary_index: 0 };
  }

  #report(
    type: Extract<ResponseStreamEvent, { response: unknown }>['type'],
    state: Omit<ResponseState, 'model' | 'output'>,
  ): void {
    const full = { ...state, model: this.model, output: this.#output };
    this.#send(type, { response: newResponse(this.#head, full) });
  }

  #write({ type, ...fields }: Unnumbered<ResponseStreamEvent>): void {
    this.#send(type, fields);
  }

  #send(type: string, fields: object): void {
    const data = { type, sequence_number: this.#written++, ...fields };
    this.writer.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
