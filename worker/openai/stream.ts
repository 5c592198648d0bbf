/** Streams a completion. A client cannot resume the stream, so it ends with its run or its reader. */
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { Submitted } from '../desk/submit.ts';
import type { Env } from '../env.ts';
import { type Attached, attachFirst } from '../follow/attach.ts';
import { type DeliveryHandler, deliver } from '../follow/deliver.ts';
import { refusalOf } from '../follow/fold-answer.ts';
import { SseWriter } from '../follow/sse-writer.ts';
import { type CompletionHead, type FinishReason, newChunk, newUsageChunk } from './completion.ts';
import { type Ending, type Failure, LOST } from './errors.ts';
import { AnswerTelling } from './telling.ts';

/** The parts of its request that a stream needs. */
export interface Streaming {
  /** `model` is the requested model. */
  readonly head: CompletionHead;
  readonly withUsage: boolean;
  /** Called if the stream ends before the run. Must not throw. */
  readonly giveUp: () => Promise<void>;
  /** Keeps the process alive for a promise after the end of the request. */
  readonly waitUntil: (promise: Promise<void>) => void;
}

/**
 * Follows the run. Resolves with the stream when the model has begun to answer, or after FOLLOW_LIMITS.heartbeatMs.
 * Resolves with the failure if the run ends before that. While tools run, the stream only carries comments.
 */
export async function streamCompletion(
  request: Request,
  env: Env,
  submitted: Submitted,
  streaming: Streaming,
): Promise<ReadableStream<Uint8Array> | Failure> {
  const first = await attachFirst(env, submitted, 'json', 0, request.signal);
  if (first.type === 'response') throw await refusalOf(first.response);
  const stream = new CompletionStream(streaming);
  streaming.waitUntil(run(request.signal, env, submitted, first, stream, streaming.giveUp));
  return (await stream.opening) ?? stream.writer.readable;
}

/** Always ends the stream and closes the socket. Never throws. */
async function run(
  requestSignal: AbortSignal,
  env: Env,
  submitted: Submitted,
  first: Attached,
  stream: CompletionStream,
  giveUp: () => Promise<void>,
): Promise<void> {
  const leave = () => stream.life.abort();
  requestSignal.addEventListener('abort', leave);
  if (requestSignal.aborted) leave();
  await deliver(env, submitted, first, stream, stream.writer, stream.life);
  const isLeft = stream.life.signal.aborted && !stream.isEnded;
  if (!stream.isDone) await giveUp();
  stream.end(LOST);
  await stream.writer.end(isLeft ? stream.life.signal : requestSignal);
}

/** The chunks of one completion. */
class CompletionStream implements DeliveryHandler {
  readonly framing = 'json';
  readonly writer = new SseWriter();
  /** Aborted when the reader is gone, and when the stream has ended. */
  readonly life = new AbortController();
  readonly #streaming: Streaming;
  readonly #telling = new AnswerTelling();
  readonly #opening = Promise.withResolvers<Failure | null>();
  #state: 'waiting' | 'open' | 'ended' = 'waiting';

  constructor(streaming: Streaming) {
    this.#streaming = streaming;
  }

  /** Resolves with null when there is something to read, or with the failure if there never will be. */
  get opening(): Promise<Failure | null> {
    return this.#opening.promise;
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Whether the run has ended. */
  get isDone(): boolean {
    return this.#telling.isDone;
  }

  /** Follows from the beginning each time: {@link AnswerTelling} skips what it has already told. */
  cursor(): number {
    return 0;
  }

  take(text: string): void {
    if (this.#state === 'ended') return;
    const { content, reasoning, ending } = this.#telling.see(JSON.parse(text) as StreamEvent[]);
    if (this.#telling.hasBegun) this.#open();
    if (reasoning !== '') this.#write({ reasoning_content: reasoning });
    if (content !== '') this.#write({ content });
    if (ending) this.end(ending);
  }

  beat(): void {
    this.#open();
    this.writer.write(': at work\n\n');
  }

  /** Ends the stream, once. */
  end(ending: Ending): void {
    if (this.#state === 'ended') return;
    if (ending.type === 'finished') this.#finish(ending.reason);
    else if (this.#state === 'open') this.#writeData({ error: ending.failure.error });
    else this.#opening.resolve(ending.failure);
    if (this.#state === 'open') this.writer.write('data: [DONE]\n\n');
    this.#state = 'ended';
    this.life.abort();
  }

  #open(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'open';
    this.#write({ role: 'assistant', content: '' });
    this.#opening.resolve(null);
  }

  #finish(reason: FinishReason): void {
    this.#open();
    const { withUsage } = this.#streaming;
    this.#writeData(newChunk(this.#head, {}, reason, withUsage));
    const usage = this.#telling.response?.usage;
    if (withUsage && usage) this.#writeData(newUsageChunk(this.#head, usage));
  }

  #write(delta: Parameters<typeof newChunk>[1]): void {
    this.#writeData(newChunk(this.#head, delta, null, this.#streaming.withUsage));
  }

  /** The head with the model that answers now. */
  get #head(): CompletionHead {
    const { head } = this.#streaming;
    return { ...head, model: this.#telling.response?.model ?? head.model };
  }

  #writeData(data: object): void {
    this.writer.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}
