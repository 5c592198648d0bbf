/** Streams a completion. */
import { waitUntil } from 'cloudflare:workers';
import type { Words } from '../../shared/shown/markdown.ts';
import type { Submitted } from '../desk/submit.ts';
import type { Env } from '../env.ts';
import { attachFirst } from '../follow/attach.ts';
import { refusalOf } from '../follow/fold-answer.ts';
import { SseWriter } from '../follow/sse-writer.ts';
import type { AnswerReader } from '../words/answer-reader.ts';
import type { Ending, Failure } from '../words/ending.ts';
import { type Wire, WordStream } from '../words/word-stream.ts';
import { type CompletionHead, newChunk, newUsageChunk } from './completion.ts';
import { errorBody } from './errors.ts';

/** The parts of its request that a stream needs. */
export interface Streaming {
  /** `model` is the requested model. */
  readonly head: CompletionHead;
  readonly withUsage: boolean;
  /** Called if the stream ends before the run. Must not throw. */
  readonly giveUp: () => Promise<void>;
}

/**
 * Follows the run. Resolves with the stream when the model answers, or after FOLLOW_LIMITS.heartbeatMs. Resolves with
 * the failure if the run ends before that. While tools run, the stream only carries comments.
 */
export async function streamCompletion(
  { signal }: Request,
  env: Env,
  submitted: Submitted,
  streaming: Streaming,
): Promise<ReadableStream<Uint8Array> | Failure> {
  const first = await attachFirst(env, submitted, 'json', 0, signal);
  if (first.type === 'response') throw await refusalOf(first.response);
  const wire = new CompletionWire(streaming);
  const { giveUp } = streaming;
  waitUntil(new WordStream(wire.writer, wire).follow(env, submitted, first, { signal, giveUp }));
  return (await wire.opening) ?? wire.writer.readable;
}

/** The chunks of one completion. */
class CompletionWire implements Wire {
  readonly writer = new SseWriter();
  readonly #streaming: Streaming;
  readonly #opening = Promise.withResolvers<Failure | null>();
  #isOpen = false;
  /** The model that answers now. */
  #model: string;

  constructor(streaming: Streaming) {
    this.#streaming = streaming;
    this.#model = streaming.head.model;
  }

  /** Resolves with null when there is something to read, or with the failure if there never will be. */
  get opening(): Promise<Failure | null> {
    return this.#opening.promise;
  }

  write({ content, reasoning }: Words, { hasBegun, response }: AnswerReader): void {
    this.#model = response?.model ?? this.#model;
    if (hasBegun) this.#open();
    if (reasoning !== '') this.#write({ reasoning_content: reasoning });
    if (content !== '') this.#write({ content });
  }

  beat(): void {
    this.#open();
    this.writer.write(': at work\n\n');
  }

  end(ending: Ending, { response }: AnswerReader): void {
    if (ending.type === 'failed') {
      if (!this.#isOpen) return this.#opening.resolve(ending.failure);
      this.#writeData(errorBody(ending.failure));
    } else {
      this.#open();
      const { withUsage } = this.#streaming;
      this.#writeData(newChunk(this.#head, {}, ending.reason, withUsage));
      if (withUsage && response?.usage) {
        this.#writeData(newUsageChunk(this.#head, response.usage));
      }
    }
    this.writer.write('data: [DONE]\n\n');
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#write({ role: 'assistant', content: '' });
    this.#opening.resolve(null);
  }

  #write(delta: Parameters<typeof newChunk>[1]): void {
    this.#writeData(newChunk(this.#head, delta, null, this.#streaming.withUsage));
  }

  get #head(): CompletionHead {
    return { ...this.#streaming.head, model: this.#model };
  }

  #writeData(data: object): void {
    this.writer.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}
