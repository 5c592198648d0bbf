/** One connection of a reader, over either transport, event by event. */
import { createParser } from 'eventsource-parser';
import * as z from 'zod';
import { StreamEvent } from '../../../../shared/wire/events.ts';
import { parseNamedEvent } from '../../../named-event.ts';

/** Takes an event, heartbeats aside; returns whether the reader leaves now. */
export type Take = (event: StreamEvent, position: number) => boolean;

export interface Reading {
  readonly take: Take;
  /** Over a socket: each so many messages are acknowledged. */
  readonly acksEach: number;
  /** The reader leaves when it aborts; one that begins after that is not concerned. */
  readonly closing: AbortSignal;
}

/** Resolves when the connection is over, whichever side ended it. Throws for what no server may say. */
export async function readConnection(response: Response, reading: Reading): Promise<void> {
  const { webSocket, body } = response;
  const left = untilClosing(reading.closing);
  if (webSocket) return await readSocket(webSocket, reading, left);
  if (!body) throw new Error('a stream without a body');
  return await readSse(body, reading, left);
}

/** For a connection that no one wants any more. */
export async function leaveUnread({ webSocket, body }: Response): Promise<void> {
  webSocket?.accept();
  webSocket?.close(1000, 'leaving');
  await body?.cancel();
}

function untilClosing(closing: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!closing.aborted) closing.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function readSse(
  body: ReadableStream<Uint8Array>,
  { take }: Reading,
  left: Promise<void>,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let isOver = false;
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      const parsed = parseNamedEvent(event ?? '', data);
      if (!parsed) throw new Error(`not an event: ${event} ${data}`);
      if (!isOver && parsed.type !== 'heartbeat') isOver = take(parsed, Number(id));
    },
  });
  while (!isOver) {
    const read = await Promise.race([reader.read().catch(asLost), left]);
    if (!read || read.done) break;
    parser.feed(decoder.decode(read.value, { stream: true }));
  }
  await reader.cancel().catch(asLost);
}

/** A connection may be lost anywhere: the reader comes back to where it was. */
function asLost(error: unknown): undefined {
  if (!String(error).includes('Network connection lost')) throw error;
}

const Positioned = z.array(
  z.strictObject({ event: StreamEvent, position: z.int().positive().nullable() }),
);

/** Which closes of the server a reader may meet that keeps to the protocol: done, and come back. */
const GOOD_CLOSES: ReadonlySet<number> = new Set([1000, 1001]);

async function readSocket(
  socket: WebSocket,
  { take, acksEach }: Reading,
  left: Promise<void>,
): Promise<void> {
  const over = Promise.withResolvers<void>();
  let isOver = false;
  let messages = 0;
  const hear = (text: string) => {
    let last: number | null = null;
    for (const { event, position } of Positioned.parse(JSON.parse(text))) {
      if (position !== null && !isOver) isOver = take(event, position);
      last = position ?? last;
    }
    if (isOver) return over.resolve();
    if (++messages % acksEach === 0 && last !== null) socket.send(JSON.stringify({ ack: last }));
  };
  socket.addEventListener('message', ({ data }) => {
    try {
      if (!isOver) hear(String(data));
    } catch (error) {
      over.reject(error);
    }
  });
  socket.addEventListener('close', ({ code, reason }) => {
    if (GOOD_CLOSES.has(code)) over.resolve();
    else over.reject(new Error(`closed with ${code} ${reason}`));
  });
  socket.accept();
  await Promise.race([over.promise, left]);
  isOver = true;
  socket.close(1000, 'leaving');
}
