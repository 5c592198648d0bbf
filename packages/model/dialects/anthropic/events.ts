/** Reads answers of Anthropic's Messages API, event by event (docs.claude.com, "Streaming messages"). */

import { isObject } from '../../../../shared/text/json.ts';
import type { Usage } from '../../../../shared/wire/documents.ts';
import { errorFromText, errorInChunk } from '../../errors.ts';
import { UPSTREAM_LIMITS } from '../../limits.ts';
import { countIn, type JsonObject, listIn, objectIn, textIn, tokensIn } from '../../loose-json.ts';
import { type AnswerChunk, type AnswerReader, NOTHING, tooLarge, usageOf } from '../dialect.ts';
import { Course, type Thought } from '../thoughts.ts';

/** Holds the thinking blocks that are not complete yet: only a whole block has a signature. */
export class AnthropicReader implements AnswerReader {
  readonly #model: string;
  /** The message's id. */
  #id = '';
  readonly #course = new Course();
  /** By the index of the block. */
  readonly #thoughts = new Map<number, Thought>();
  /** The indexes of the blocks that are calls. Tools of the server have blocks and deltas of the same form. */
  readonly #calls = new Set<number>();
  /** The type of the block that began last. */
  #latest: unknown;
  /** UTF-16 units of what is kept and never shown: signatures, and thoughts as they begin. */
  #hiddenChars = 0;
  /** Later counts replace earlier ones field by field. */
  #usage: JsonObject = {};

  constructor(model: string) {
    this.#model = model;
  }

  read(event: JsonObject): AnswerChunk {
    const index = countIn(event, 'index') ?? 0;
    if (index > UPSTREAM_LIMITS.maxBlocks) return tooLarge();
    switch (event['type']) {
      case 'message_start':
        return this.#begin(objectIn(event, 'message'));
      case 'content_block_start':
        return this.#start(index, objectIn(event, 'content_block'));
      case 'content_block_delta':
        return this.#add(index, objectIn(event, 'delta'));
      case 'content_block_stop':
        return this.#stop(index);
      case 'message_delta': {
        const finishReason = textIn(objectIn(event, 'delta'), 'stop_reason');
        return { ...this.#count(objectIn(event, 'usage')), finishReason };
      }
      case 'message_stop':
        return { ...NOTHING, isLast: true };
      case 'error':
        return { ...NOTHING, error: errorInChunk(event) ?? errorFromText('') };
      default:
        return NOTHING; // A ping, or an event of a later version.
    }
  }

  readWhole(body: JsonObject): readonly AnswerChunk[] | null {
    if (body['type'] !== 'message') return null;
    const blocks = listIn(body, 'content').filter(isObject);
    const finishReason = textIn(body, 'stop_reason');
    return [
      ...blocks.flatMap((block, index) => [this.#start(index, block), this.#stop(index)]),
      { ...this.#count(objectIn(body, 'usage')), finishReason },
    ];
  }

  /** A proxy that asks again in the middle of an answer sends the beginning of another one. */
  #begin(message: JsonObject): AnswerChunk {
    const id = textIn(message, 'id');
    const isAnother = this.#id !== '' && id !== this.#id;
    this.#id = id;
    if (isAnother) return { ...NOTHING, error: { ...ANOTHER, type: 'api_error' }, isLast: true };
    return this.#count(objectIn(message, 'usage'));
  }

  /** Only text goes on in the next block of its kind: citations cut it into blocks. */
  #start(index: number, block: JsonObject): AnswerChunk {
    if (block['type'] !== 'text' || this.#latest !== 'text') this.#course.breakOff();
    this.#latest = block['type'];
    switch (block['type']) {
      case 'text':
        return this.#say(textIn(block, 'text'));
      case 'thinking':
      case 'redacted_thinking':
        return this.#think(index, block);
      case 'tool_use':
        return this.#call(index, block);
      default:
        return NOTHING; // A tool of the server.
    }
  }

  #think(index: number, item: JsonObject): AnswerChunk {
    const place = this.#course.place;
    this.#thoughts.set(index, { dialect: 'anthropic', model: this.#model, place, item });
    return this.#hide(JSON.stringify(item), this.#course.reasoning(textIn(item, 'thinking')));
  }

  #say(text: string): AnswerChunk {
    return { ...NOTHING, text: this.#course.text(text) };
  }

  /** The input comes in deltas, or whole from servers that do not stream it. */
  #call(index: number, block: JsonObject): AnswerChunk {
    this.#course.call();
    this.#calls.add(index);
    const input = objectIn(block, 'input');
    const id = textIn(block, 'id') || undefined;
    const name = textIn(block, 'name') || undefined;
    const isWhole = Object.keys(input).length > 0;
    return { ...NOTHING, calls: [{ index, id, name, ...(isWhole && { arguments: input }) }] };
  }

  #add(index: number, delta: JsonObject): AnswerChunk {
    switch (delta['type']) {
      case 'text_delta':
        return this.#say(textIn(delta, 'text'));
      case 'thinking_delta': {
        const reasoning = textIn(delta, 'thinking');
        this.#extend(index, 'thinking', reasoning);
        return { ...NOTHING, reasoning: this.#course.reasoning(reasoning) };
      }
      case 'signature_delta': {
        const signature = textIn(delta, 'signature');
        this.#extend(index, 'signature', signature);
        return this.#hide(signature, '');
      }
      case 'input_json_delta':
        if (!this.#calls.has(index)) return NOTHING;
        return { ...NOTHING, calls: [{ index, arguments: textIn(delta, 'partial_json') }] };
      default:
        return NOTHING;
    }
  }

  /** Counts what is kept. `reasoning` is the part of it to show. */
  #hide(kept: string, reasoning: string): AnswerChunk {
    this.#hiddenChars += kept.length;
    if (this.#hiddenChars <= UPSTREAM_LIMITS.maxAnswerChars) return { ...NOTHING, reasoning };
    this.#thoughts.clear();
    return tooLarge();
  }

  #extend(index: number, field: 'thinking' | 'signature', piece: string): void {
    const thought = this.#thoughts.get(index);
    if (!thought) return;
    const { item } = thought;
    const extended = { ...item, [field]: textIn(item, field) + piece };
    this.#thoughts.set(index, { ...thought, item: extended });
  }

  #stop(index: number): AnswerChunk {
    const thought = this.#thoughts.get(index);
    this.#thoughts.delete(index);
    return thought ? { ...NOTHING, reasoningDetails: [thought] } : NOTHING;
  }

  #count(usage: JsonObject): AnswerChunk {
    const counted = Object.entries(usage).filter(([, count]) => count !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counted) };
    return { ...NOTHING, usage: readUsage(this.#usage) };
  }
}

const ANOTHER = errorFromText('The model server began another answer within this one.');

/** `input_tokens` leaves out what was read from the cache or written to it. */
function readUsage(usage: JsonObject): Usage | null {
  const [input, cached, written] = [
    'input_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
  ].map((name) => tokensIn(usage, name));
  const completion = tokensIn(usage, 'output_tokens');
  if (input === undefined && completion === undefined) return null;
  const reasoning = tokensIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens');
  const prompt = (input ?? 0) + (cached ?? 0) + (written ?? 0);
  return usageOf({ prompt, completion, cached, written, reasoning });
}
