/** Streams an answer as server-sent events with the AI SDK's chunks. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { AppContext } from '../account/caller.ts';
import type { Env } from '../env.ts';
import { type Attached, attachFirst } from '../follow/attach.ts';
import { type Begun, cancelRun } from '../follow/cancel-run.ts';
import { type Delivered, type DeliveryHandler, deliver } from '../follow/deliver.ts';
import { refusalOf } from '../follow/fold-answer.ts';
import { SSE_HEADERS, SseWriter } from '../follow/sse-writer.ts';
import { ChunkReader } from './chunk-reader.ts';
import type { UiChunk } from './chunks.ts';
import { UI_LIMITS } from './limits.ts';

/** With the value `continue`, the run goes on when its reader leaves. */
export const IF_LEFT = 'Drawbridge-If-Left';

/** A comment that shows that the connection is alive. */
export const BEAT = ': at work';

/**
 * The response with the chunks behind the number `after`, to the end of the run or to calls of the app's tools. `from` as
 * in {@link ChunkReader}.
 */
export async function streamChunks(
  c: Context<AppContext>,
  begun: Begun,
  { after = -1, from = 0 } = {},
): Promise<Response> {
  const { signal } = c.req.raw;
  const first = await attachFirst(c.env, begun, 'json', 0, signal);
  if (first.type === 'response') throw await refusalOf(first.response);
  const stream = new ChunkStream(begun, after, from);
  const stays = c.req.header(IF_LEFT) === 'continue';
  waitUntil(stream.follow(c.env, first, signal, stays));
  const headers = {
    'Drawbridge-Conversation-Id': begun.caller.conversationId,
    'Drawbridge-Response-Id': begun.responseId,
    'x-vercel-ai-ui-message-stream': 'v1',
  };
  return new Response(stream.writer.readable, { headers: { ...headers, ...SSE_HEADERS } });
}

class ChunkStream implements DeliveryHandler {
  readonly framing = 'json';
  readonly writer = new SseWriter();
  readonly #begun: Begun;
  readonly #reader: ChunkReader;
  readonly #life = new AbortController();

  constructor(begun: Begun, after: number, from: number) {
    this.#begun = begun;
    this.#reader = new ChunkReader(begun, after, from);
  }

  /** Follows from the beginning each time: {@link ChunkReader} leaves out what it has returned before. */
  cursor(): number {
    return 0;
  }

  take(text: string): void {
    if (this.#reader.isDone) return;
    this.#write(this.#reader.read(JSON.parse(text) as StreamEvent[]));
    if (this.writer.isGone || this.#reader.isDone) this.#life.abort();
  }

  beat(): void {
    this.writer.write(`${BEAT}\n\n`);
  }

  /** Follows the run to its end. If the reader leaves before, the run ends soon, unless it `stays`. */
  async follow(env: Env, first: Attached, signal: AbortSignal, stays: boolean): Promise<void> {
    const leave = () => this.#life.abort();
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    const how = await deliver(env, this.#begun, first, this, this.writer, this.#life);
    const isLeft = signal.aborted || this.writer.isGone;
    if (!this.#reader.isDone) {
      this.#write([{ type: 'error', errorText: CUT[how] ?? AWAY }]);
      if (isLeft && !stays) waitUntil(giveUp(env, this.#begun));
    }
    this.writer.write('data: [DONE]\n\n');
    await this.writer.end(how === 'stalled' ? this.#life.signal : signal);
  }

  #write(chunks: readonly UiChunk[]): void {
    for (const chunk of chunks) this.writer.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** Why a stream ends before its run. */
const CUT: Partial<Record<Delivered, string>> = {
  gone: 'NOT_FOUND: The conversation was deleted',
  expired: 'UNAUTHENTICATED: The token has expired. The answer goes on: resume it with another one',
};
const AWAY = 'UNAVAILABLE: The answer could not be followed to its end. Resume it in a moment';

async function giveUp(env: Env, begun: Begun): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, UI_LIMITS.graceMs));
  await cancelRun(env, begun, { unlessFollowed: true });
}
