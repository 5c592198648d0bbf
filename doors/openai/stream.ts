/** Streams a completion. */

import type { OutputForm } from '../../shared/api/requests.ts';
import type { Words } from '../../shared/shown/markdown.ts';
import type { FollowedAnswer } from '../words/answer-reader.ts';
import type { Ending } from '../words/ending.ts';

import { toClientCalls } from './client-tools.ts';
import { type CompletionHead, newChunk, newUsageChunk, toToolCall } from './completion.ts';
import { errorBody } from './errors.ts';
import { HeldWire } from './held-wire.ts';

/** The chunks of one completion. */
export class CompletionWire extends HeldWire {
  readonly #known: CompletionHead;
  readonly #withUsage: boolean;

  constructor(head: CompletionHead, withUsage: boolean, form: OutputForm | undefined) {
    super(head.model, form);
    this.#known = head;
    this.#withUsage = withUsage;
  }

  protected begin(): void {
    this.#write({ role: 'assistant', content: '' });
  }

  protected add({ content, reasoning }: Words): void {
    if (reasoning !== '') this.#write({ reasoning_content: reasoning });
    if (content !== '') this.#write({ content });
  }

  protected finish(ending: Ending, { response, clientCalls, usage }: FollowedAnswer): void {
    if (ending.type === 'failed') this.#writeData(errorBody(ending.failure));
    else {
      const calls = toClientCalls(response?.id ?? '', clientCalls).map(toToolCall);
      const deltas = calls.map((call, index) => ({ index, ...call }));
      if (deltas.length > 0) this.#write({ tool_calls: deltas });
      this.#writeData(newChunk(this.#head, {}, ending.reason, this.#withUsage));
      if (this.#withUsage && usage) this.#writeData(newUsageChunk(this.#head, usage));
    }
    this.writer.write('data: [DONE]\n\n');
  }

  #write(delta: Parameters<typeof newChunk>[1]): void {
    this.#writeData(newChunk(this.#head, delta, null, this.#withUsage));
  }

  get #head(): CompletionHead {
    return { ...this.#known, model: this.model };
  }

  #writeData(data: object): void {
    this.writer.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}
