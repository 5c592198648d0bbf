/** Reads answers of OpenAI's Responses API, event by event (the types of the `openai` package describe them). */

import { isObject } from '../../../../shared/text/json.ts';
import type { Usage } from '../../../../shared/wire/documents.ts';
import { errorFromText, errorInChunk } from '../../errors.ts';
import { UPSTREAM_LIMITS } from '../../limits.ts';
import { countIn, type JsonObject, listIn, objectIn, textIn, tokensIn } from '../../loose-json.ts';
import { type AnswerChunk, type AnswerReader, NOTHING, tooLarge, usageOf } from '../dialect.ts';
import { Course, type Thought } from '../thoughts.ts';

/** Items are distinguished by their index in the output: some gateways change their ids on the way. */
export class ResponsesReader implements AnswerReader {
  readonly #model: string;
  readonly #course = new Course();
  /** The indexes of the items of which pieces came. The whole item at its end then adds nothing. */
  readonly #begun = new Set<number>();
  /** By the item's index: the place where it began. Gateways can end a thought behind the text that follows it. */
  readonly #places = new Map<number, number>();
  readonly #calls = new Set<number>();

  constructor(model: string) {
    this.#model = model;
  }

  read(event: JsonObject): AnswerChunk {
    const index = countIn(event, 'output_index') ?? 0;
    const delta = textIn(event, 'delta');
    if (index > UPSTREAM_LIMITS.maxBlocks) return tooLarge();
    switch (event['type']) {
      case 'response.output_item.added': {
        const item = objectIn(event, 'item');
        this.#begin(index);
        return item['type'] === 'function_call' ? this.#call(index, item) : NOTHING;
      }
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#say(index, delta);
      case 'response.function_call_arguments.delta':
        this.#begun.add(index);
        return { ...NOTHING, calls: [{ index, arguments: delta }] };
      case 'response.reasoning_summary_part.added':
        this.#course.breakOff();
        return NOTHING;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(index, delta);
      case 'response.output_item.done':
        return this.#end(index, objectIn(event, 'item'));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return { ...endOf(objectIn(event, 'response')), isLast: true };
      case 'error':
        return { ...NOTHING, error: errorInChunk(event) ?? errorFromText('') };
      default:
        return NOTHING; // Progress, the ends of parts, or an event of a later version.
    }
  }

  readWhole(body: JsonObject): readonly AnswerChunk[] | null {
    if (body['object'] !== 'response') return null;
    const items = listIn(body, 'output').filter(isObject);
    return [...items.map((item, index) => this.#end(index, item)), endOf(body)];
  }

  /** The place of the item. */
  #begin(index: number): number {
    const known = this.#places.get(index);
    if (known !== undefined) return known;
    this.#course.breakOff();
    const { place } = this.#course;
    this.#places.set(index, place);
    return place;
  }

  #call(index: number, item: JsonObject): AnswerChunk {
    if (this.#calls.has(index)) return NOTHING;
    this.#calls.add(index);
    this.#course.call();
    const id = textIn(item, 'call_id') || undefined;
    return { ...NOTHING, calls: [{ index, id, name: textIn(item, 'name') || undefined }] };
  }

  #say(index: number, text: string): AnswerChunk {
    this.#begun.add(index);
    return { ...NOTHING, text: this.#course.text(text) };
  }

  #think(index: number, reasoning: string): AnswerChunk {
    if (reasoning !== '') this.#begun.add(index);
    return { ...NOTHING, reasoning: this.#course.reasoning(reasoning) };
  }

  /** A whole item. Adds what did not come in pieces. */
  #end(index: number, item: JsonObject): AnswerChunk {
    const place = this.#begin(index);
    const isNew = !this.#begun.has(index);
    const keep = (item: JsonObject): Thought[] => [
      { dialect: 'responses', model: this.#model, place, item },
    ];
    switch (item['type']) {
      case 'message': {
        const text = isNew ? partsOf(item, 'content').join('') : '';
        const phase = textIn(item, 'phase');
        const reasoningDetails = phase === '' ? [] : keep({ type: 'message', phase });
        return { ...this.#say(index, text), reasoningDetails };
      }
      case 'function_call': {
        const { calls } = this.#call(index, item);
        const whole = { index, arguments: textIn(item, 'arguments') };
        return { ...NOTHING, calls: [...calls, ...(isNew ? [whole] : [])] };
      }
      case 'reasoning': {
        const words = [...partsOf(item, 'summary'), ...partsOf(item, 'content')].join('\n\n');
        const { reasoning } = this.#think(index, isNew ? words : '');
        return { ...NOTHING, reasoning, reasoningDetails: holdsThought(item) ? keep(item) : [] };
      }
      default:
        return NOTHING; // A tool of the server.
    }
  }
}

/** A summary is no thought: with it alone the item only names one that the server has not stored, and is refused. */
function holdsThought(item: JsonObject): boolean {
  return textIn(item, 'encrypted_content') !== '' || partsOf(item, 'content').join('') !== '';
}

/** The texts of an item's parts. */
function partsOf(item: JsonObject, field: 'content' | 'summary'): string[] {
  return listIn(item, field)
    .filter(isObject)
    .map((part) => textIn(part, 'text') || textIn(part, 'refusal'));
}

function endOf(response: JsonObject): AnswerChunk {
  const status = textIn(response, 'status');
  const why = textIn(objectIn(response, 'incomplete_details'), 'reason');
  const error = errorInChunk({ error: response['error'] });
  return {
    ...NOTHING,
    finishReason: why || (status === 'incomplete' ? 'max_output_tokens' : status),
    usage: readUsage(response['usage']),
    error: error ?? (status === 'failed' ? errorFromText('') : null),
  };
}

function readUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const input = objectIn(usage, 'input_tokens_details');
  return usageOf({
    prompt: tokensIn(usage, 'input_tokens'),
    completion: tokensIn(usage, 'output_tokens'),
    total: tokensIn(usage, 'total_tokens'),
    cached: tokensIn(input, 'cached_tokens'),
    written: tokensIn(input, 'cache_write_tokens'),
    reasoning: tokensIn(objectIn(usage, 'output_tokens_details'), 'reasoning_tokens'),
  });
}
