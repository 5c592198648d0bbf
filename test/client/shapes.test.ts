import { expect, it } from 'vitest';
import { readAccountEvent, readEvent } from '../../client/shapes.ts';
import { AccountEvent } from '../../shared/api/account-events.ts';
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

it('knows an event of each type of an account’s stream, and no event of a tape', () => {
  const types = AccountEvent.options.map(({ shape }) => shape.type.value);
  const read = types.map((type) => readAccountEvent(type, {}).type);
  expect(read).toEqual(types.map((type) => (isBare(type) ? type : 'unknown')));
  const delta = { documentId: 'doc_001', delta: 'a' };
  expect(readAccountEvent('content_delta', delta)).toMatchObject({ type: 'unknown' });
});

function isBare(type: string): boolean {
  return type === 'reset' || type === 'heartbeat';
}

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
