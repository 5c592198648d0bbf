/** Follows an account as a client does, over SSE or a WebSocket. */
import { AccountEvent } from '../../../shared/api/account-events.ts';
import { eventOfNamed } from '../../../shared/api/sse.ts';
import { call } from '../api.ts';
import { upgrade } from '../follow/socket-reader.ts';
import { SseReader } from '../follow/sse-reader.ts';

export interface Read {
  readonly position: number;
  readonly event: AccountEvent;
}

export interface AccountReader {
  /** All events so far, without heartbeats. */
  readonly events: readonly Read[];
  /** Reads on until the condition holds. */
  until(condition: (events: readonly Read[]) => boolean): Promise<readonly Read[]>;
  leave(): Promise<void>;
}

export interface FollowOptions {
  readonly account: string;
  readonly after?: number | undefined;
}

export const OPENERS = { SSE: followOverSse, WebSocket: followOverSocket } as const;

export async function followOverSse(options: FollowOptions): Promise<AccountReader> {
  return readerOf(new SseReader(await call(pathOf(options), options)));
}

/** Reads what `GET events` has answered. */
export function readerOf(reader: SseReader): AccountReader {
  return {
    get events() {
      return reader.raw
        .filter(({ event }) => event !== 'heartbeat')
        .map(({ event = '', id, data }) => ({
          position: Number(id),
          event: AccountEvent.parse(eventOfNamed(event, JSON.parse(data))),
        }));
    },
    async until(condition) {
      while (!condition(this.events)) {
        if (!(await reader.readOnce())) throw new Error(`ended with ${JSON.stringify(reader.raw)}`);
      }
      return this.events;
    },
    leave: () => reader.leave(),
  };
}

async function followOverSocket(options: FollowOptions): Promise<AccountReader> {
  const { webSocket: socket } = await upgrade(pathOf(options), options);
  if (!socket) throw new Error('no socket');
  const events: Read[] = [];
  let heard = Promise.withResolvers<void>();
  const wake = () => {
    heard.resolve();
    heard = Promise.withResolvers();
  };
  let isClosed = false;
  socket.addEventListener('message', ({ data }) => {
    for (const { event, position } of JSON.parse(String(data))) {
      if (position !== null) events.push({ position, event: AccountEvent.parse(event) });
    }
    const last = events.at(-1);
    if (last && !isClosed) socket.send(JSON.stringify({ ack: last.position }));
    wake();
  });
  socket.addEventListener('close', () => {
    isClosed = true;
    wake();
  });
  socket.accept();
  return {
    events,
    async until(condition) {
      while (!condition(events)) {
        if (isClosed) throw new Error(`closed after ${JSON.stringify(events)}`);
        await heard.promise;
      }
      return events;
    },
    async leave() {
      isClosed = true;
      socket.close(1000, 'leaving');
    },
  };
}

/** What the events say of one conversation, the last one last. */
export function conversationsIn(events: readonly Read[], id: string) {
  return events.flatMap(({ event }) =>
    event.type === 'conversation' && event.conversation.id === id ? [event.conversation] : [],
  );
}

function pathOf({ after }: FollowOptions): string {
  return after === undefined ? 'events' : `events?after=${after}`;
}
