import { expect, it } from 'vitest';
import { readEvent } from '../../client/shapes.ts';
import { formatEvent } from '../../shared/api/sse.ts';
import { StreamEvent } from '../../shared/wire/events.ts';
import { SAMPLE_TAPE } from './sample-tape.ts';

it('knows an event of each type', () => {
  const unknown = StreamEvent.options
    .map(({ shape }) => shape.type.value)
    .filter((type) => type !== 'heartbeat')
    .map((type) => readEvent(type, {}));
  expect(unknown.map(({ type }) => type)).toEqual(unknown.map(() => 'unknown'));
  expect(readEvent('heartbeat', {})).toEqual({ type: 'heartbeat' });
});

it.each(SAMPLE_TAPE)('reads $type as it was written, with members it does not know', (event) => {
  const data = JSON.parse(/^data: (.*)$/m.exec(formatEvent(event, null, 'named'))?.[1] ?? '');
  expect(readEvent(event.type, data)).toEqual(event);
  expect(readEvent(event.type, { ...data, later: 1 })).not.toMatchObject({ type: 'unknown' });
});

it('reads the end of a document about which nothing more is known', () => {
  const event = { type: 'document_end', documentId: 'doc_001', finalContent: 'Hi' } as const;
  const { type, ...data } = StreamEvent.parse(event);
  expect(readEvent(type, data)).toEqual(event);
});

it.each(['toString', '__proto__', 'constructor'])('takes an event named %s for unknown', (name) => {
  expect(readEvent(name, {})).toEqual({ type: 'unknown', name, data: {} });
});
