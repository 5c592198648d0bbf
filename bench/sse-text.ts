/** A stream as it was sent, read afterwards: while it is measured nothing is parsed. */
import type { StreamEvent } from '../shared/events.ts';
import { parseNamedEvent } from '../shared/sse.ts';

export interface SentEvent {
  readonly event: StreamEvent;
  /** Behind it; null for a heartbeat. */
  readonly position: number | null;
}

/** The events of the whole frames in a stream's text, of the named framing. @throws for one that is not known. */
export function readEvents(text: string): SentEvent[] {
  return wholeFramesOf(text)
    .split(FRAME_END)
    .flatMap((frame) => {
      const { event: name, id, data } = fieldsOf(frame);
      if (name === undefined) return []; // Only `retry:`, or nothing.
      const event = parseNamedEvent(name, data ?? '');
      if (!event) throw new Error(`The stream holds an event of an unknown form: ${name}`);
      return [{ event, position: id === undefined ? null : Number(id) }];
    });
}

/** Without a frame at its end that is not whole. */
export function wholeFramesOf(text: string): string {
  const end = text.lastIndexOf(FRAME_END);
  return end < 0 ? '' : text.slice(0, end + FRAME_END.length);
}

/** What their deltas say. */
export function textIn(events: readonly SentEvent[]): string {
  return events.map(({ event }) => (event.type === 'content_delta' ? event.delta : '')).join('');
}

const FRAME_END = '\n\n';

function fieldsOf(frame: string): Partial<Record<string, string>> {
  const lines = frame.split('\n').map((line) => /^(\w+): (.*)$/.exec(line));
  return Object.fromEntries(lines.map((match) => [match?.[1] ?? '', match?.[2]]));
}
