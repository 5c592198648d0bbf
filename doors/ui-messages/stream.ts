/** Streams an answer as server-sent events with the AI SDK's chunks. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { StreamEvent } from '../../shared/wire/events.ts';
import {
  AnswerStream,
  type ApiDesk,
  type AppContext,
  type Begun,
  type Delivered,
  deskOf,
  SSE_HEADERS,
  SseWriter,
} from '../../worker/door.ts';
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
  const desk = deskOf(c);
  const stream = new ChunkStream(new ChunkReader(begun, after, from));
  const stays = c.req.header(IF_LEFT) === 'continue';
  // If the reader leaves before the end, the run ends soon.
  const giveUp = async () => {
    const isLeft = desk.left.aborted || stream.writer.isGone;
    if (isLeft && !stays) waitUntil(cancelLater(desk, begun));
  };
  await desk.follow(begun, stream, giveUp);
  const headers = {
    'Drawbridge-Conversation-Id': begun.caller.conversationId,
    'Drawbridge-Response-Id': begun.responseId,
    'x-vercel-ai-ui-message-stream': 'v1',
  };
  return new Response(stream.writer.readable, { headers: { ...headers, ...SSE_HEADERS } });
}

class ChunkStream extends AnswerStream {
  readonly #reader: ChunkReader;

  constructor(reader: ChunkReader) {
    super(new SseWriter());
    this.#reader = reader;
  }

  protected get isOver(): boolean {
    return this.#reader.isDone;
  }

  protected read(events: readonly StreamEvent[]): void {
    this.#write(this.#reader.read(events));
    if (this.isOver) this.#end([]);
  }

  protected writeBeat(): void {
    this.writer.write(`${BEAT}\n\n`);
  }

  protected cut(how: Delivered): void {
    this.#end([{ type: 'error', errorText: CUT[how] ?? AWAY }]);
  }

  #end(last: readonly UiChunk[]): void {
    this.endWith(() => {
      this.#write(last);
      this.writer.write('data: [DONE]\n\n');
    });
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

async function cancelLater(desk: ApiDesk, begun: Begun): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, UI_LIMITS.graceMs));
  await desk.cancel(begun, { unlessFollowed: true });
}
