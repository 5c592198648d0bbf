import { expect, it } from 'vitest';
import { createClient, type ReadEvent } from '../../client/index.ts';
import { CLIENT_LIMITS } from '../../client/limits.ts';
import type { SocketLike } from '../../client/socket.ts';
import { CONVERSATION_ID } from './sample-tape.ts';
import { createTestClock } from './test-clock.ts';

interface Entry {
  readonly event: ReadEvent;
  readonly position: number | null;
}

const END = { event: { type: 'heartbeat' }, position: null } as const;

/** What a client reads of these messages, up to {@link END}, and what it has sent meanwhile. */
async function readAll(messages: readonly (readonly Entry[])[]) {
  const sent: string[] = [];
  const openSocket = () => {
    const socket: SocketLike = {
      onopen: null,
      onmessage: null,
      onclose: null,
      send: (text) => sent.push(text),
      close: () => undefined,
    };
    setImmediate(() => {
      socket.onopen?.({} as never);
      for (const message of messages)
        socket.onmessage?.({ data: JSON.stringify(message) } as never);
    });
    return socket;
  };
  const fetch = async () => Response.json({ ticket: 'one', expires: '2030-01-01T00:00:00.000Z' });
  const options = { url: 'http://x', token: 'token', fetch, openSocket };
  const read: Entry[] = [];
  const client = createClient(options, createTestClock());
  for await (const { event, position = null } of client.followConversation(CONVERSATION_ID)) {
    if (event.type === END.event.type) break;
    read.push({ event, position });
  }
  return { read, sent };
}

function delta(position: number, delta: string): Entry {
  return { event: { type: 'content_delta', documentId: 'doc_001', delta }, position };
}

it('acknowledges messages together', async () => {
  const half = 'x'.repeat(CLIENT_LIMITS.ackChars / 2);
  const { sent } = await readAll([...[1, 2, 3, 4, 5].map((at) => [delta(at, half)]), [END]]);
  expect(sent).toEqual([2, 4].map((position) => JSON.stringify({ ack: position })));
});
