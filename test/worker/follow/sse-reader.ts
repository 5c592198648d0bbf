/** Reads an SSE response as a client does, with an independent parser, as far as the test wants. */
import { createParser } from 'eventsource-parser';
import type { StreamEvent } from '../../../shared/wire/events.ts';
import { parseNamedEvent } from '../../named-event.ts';

/** A frame as it stood in the stream. */
export interface RawEvent {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

/** An event of the named framing with its cursor. */
export interface ReadEvent {
  readonly id: number;
  readonly event: StreamEvent;
}

export class SseReader {
  readonly status: number;
  /** Everything so far. */
  readonly raw: RawEvent[] = [];
  retryMs: number | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder();
  readonly #events: ReadEvent[] = [];
  /** How many of the frames are among the events, or were heartbeats. */
  #parsed = 0;
  readonly #parser = createParser({
    onEvent: ({ event, id, data }) => this.raw.push({ event, id, data }),
    onRetry: (ms) => {
      this.retryMs = ms;
    },
  });

  constructor(response: Response) {
    this.status = response.status;
    this.#reader = response.body?.getReader();
  }

  /** All events so far, without heartbeats. */
  get events(): ReadEvent[] {
    for (const { event, id, data } of this.raw.slice(this.#parsed)) {
      const parsed = parseNamedEvent(event ?? '', data);
      if (!parsed) throw new Error(`not an event: ${event} ${data}`);
      if (parsed.type !== 'heartbeat') this.#events.push({ id: Number(id), event: parsed });
      this.#parsed++;
    }
    return [...this.#events];
  }

  /** Reads on until the condition holds; fails when the stream ends before. */
  async until(condition: (events: readonly ReadEvent[]) => boolean): Promise<ReadEvent[]> {
    while (!condition(this.events)) {
      if (!(await this.readOnce())) throw new Error(`ended with ${JSON.stringify(this.raw)}`);
    }
    return this.events;
  }

  untilType(type: StreamEvent['type']): Promise<ReadEvent[]> {
    return this.until((events) => events.some(({ event }) => event.type === type));
  }

  /** Until this text was shown. */
  untilText(text: string): Promise<ReadEvent[]> {
    return this.until((events) => textOf(events).includes(text));
  }

  async toEnd(): Promise<ReadEvent[]> {
    while (await this.readOnce());
    return this.events;
  }

  async leave(): Promise<void> {
    await this.#reader?.cancel();
  }

  /** False at the end of the stream. */
  async readOnce(): Promise<boolean> {
    const { value, done } = (await this.#reader?.read()) ?? { done: true };
    if (value) this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    return !done;
  }
}

export function textOf(events: readonly ReadEvent[]): string {
  return events.map(({ event }) => (event.type === 'content_delta' ? event.delta : '')).join('');
}

/** The events without what depends on the network: a delta is one entry for each of its units. */
export function unitsOf(events: readonly ReadEvent[]): string[] {
  return events.flatMap(({ id, event }) => {
    if (event.type !== 'content_delta' && event.type !== 'tool_output') {
      return [`${id} ${JSON.stringify(event)}`];
    }
    const { type, documentId, delta } = event;
    return Array.from(delta.split(''), (unit, index) => {
      const position = id - delta.length + index + 1;
      return `${position} ${type} ${documentId} ${unit.charCodeAt(0)}`;
    });
  });
}
