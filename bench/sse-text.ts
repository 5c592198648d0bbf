/** Reads a stream's text after the measurement, so that nothing is parsed during it. */

import { eventOfNamed } from '../shared/api/sse.ts';
import { parseJson } from '../shared/text/json.ts';
import { StreamEvent } from '../shared/wire/events.ts';

export interface SentEvent {
  readonly event: StreamEvent;
  /** The position after the event; null for a heartbeat. */
  readonly position: number | null;
}

/** The events of the whole frames in a stream's text, in the framing `named`. @throws for an unknown event. */
export function readEvents(text: string): SentEvent[] {
  return wholeFramesOf(text)
    .split(FRAME_END)
    .flatMap((frame) => {
      const { event: name, id, data } = fieldsOf(frame);
      if (name === undefined) return []; // The frame has only `retry:`, or nothing.
      const event = StreamEvent.safeParse(eventOfNamed(name, parseJson(data ?? ''))).data;
      if (!event) throw new Error(`The stream holds an event of an unknown form: ${name}`);
      return [{ event, position: id === undefined ? null : Number(id) }];
    });
}

/** The text without an incomplete frame at its end. */
export function wholeFramesOf(text: string): string {
  const end = text.lastIndexOf(FRAME_END);
  return end < 0 ? '' : text.slice(0, end + FRAME_END.length);
}

/** The text of the events' deltas. */
export function textIn(events: readonly SentEvent[]): string {
  return events.map(({ event }) => (event.type === 'content_delta' ? event.delta : '')).join('');
}

const FRAME_END = '\n\n';

function fieldsOf(frame: string): Partial<Record<string, string>> {
  const lines = frame.split('\n').map((line) => /^(\w+): (.*)$/.exec(line));
  return Object.fromEntries(lines.map((match) => [match?.[1] ?? '', match?.[2]]));
}
