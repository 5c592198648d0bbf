import { expect, it } from 'vitest';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { type UpstreamEvent, UpstreamEventReader } from '../sse.ts';
import { splitsOf } from './splits.ts';

const encoder = new TextEncoder();

/** Title -> the body and the events it holds. */
const BODIES: readonly (readonly [string, string, readonly UpstreamEvent[]])[] = [
  ['an empty body holds nothing', '', []],
  ['an event ends at a blank line', 'data: {"a":1}\n\ndata: 2\n\n', data('{"a":1}', '2')],
  ['at most one blank is stripped behind the colon', 'data:x\n\ndata:  y z\n\n', data('x', 'y z')],
  ['lines end in CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', data('a', 'b')],
  ['lines end in a lone CR', 'data: a\r\rdata: b\r\r', data('a', 'b')],
  ['line ends can be mixed', 'data: a\r\n\ndata: b\n\r\ndata: c\r\r\n', data('a', 'b', 'c')],
  ['several data lines are one event', 'data: {\ndata: "a":1}\n\n', data('{\n"a":1}')],
  ['one byte order mark is no part of the first field', '\ufeffdata: a\n\n', data('a')],
  ['leading blank lines are skipped', '\n\n\ndata: a\n\n', data('a')],
  ['comments are skipped', ': PROCESSING\n\n: keep-alive\ndata: a\n:\n\n', data('a')],
  ['ids, retries and unknown fields are skipped', 'id: 7\nretry: 3\nx: y\ndata: a\n\n', data('a')],
  ['a field without a colon has no value', 'data\ndata: a\n\ndata\n\n', data('a')],
  ['events with empty or blank data are skipped', 'data:\n\ndata:   \n\ndata: a\n\n', data('a')],
  ['pings are skipped', 'event: ping\ndata: {"t":1}\n\nevent: ping\n\ndata: a\n\n', data('a')],
  ['other event names do not matter', 'event: completion\ndata: a\n\n', data('a')],
  ['a name holds for one event only', 'event: ping\n\ndata: a\n\n', data('a')],
  ['an event at the end needs no blank line', 'data: a\n\ndata: b\n', data('a', 'b')],
  ['an event at the end needs no line end', 'data: a\n\ndata: b', data('a', 'b')],
  [
    '[DONE] is an event of its own',
    'data: a\n\ndata: [DONE]\n\n',
    [...data('a'), { type: 'done' }],
  ],
  ['[DONE] can have blanks around it', 'data:  [DONE] \n', [{ type: 'done' }]],
  ['an event named error is one', 'event: error\ndata: {"m":1}\n\n', [error('{"m":1}')]],
  [
    'a line with the field error is one',
    'error: {"m":1}\n\ndata: a\n\n',
    [error('{"m":1}'), ...data('a')],
  ],
  [
    'an error line at the very end counts',
    'data: a\n\nerror: {"m":1}',
    [...data('a'), error('{"m":1}')],
  ],
  ['an empty error line is none', 'error:\nerror: \ndata: a\n\n', data('a')],
  ['characters of every length survive', 'data: é – 漢 😀 ￿\n\n', data('é – 漢 😀 ￿')],
];

it.each(BODIES)('%s', (_, body, events) => {
  for (const pieces of splitsOf(encoder.encode(body))) expect(read(pieces)).toEqual(events);
});

it('replaces bytes that are no UTF-8, and a character cut off by the end', () => {
  const body = new Uint8Array([
    ...encoder.encode('data: a'),
    0xff,
    ...encoder.encode('b'),
    0xf0,
    0x9f,
  ]);
  for (const pieces of splitsOf(body)) expect(read(pieces)).toEqual(data('a\ufffdb\ufffd'));
});

it('ends with an error at a line without end', () => {
  const reader = new UpstreamEventReader();
  const mebibyte = new Uint8Array(2 ** 20).fill('x'.charCodeAt(0));
  const events: UpstreamEvent[] = reader.push(encoder.encode('data: a\n\ndata: '));
  for (let size = 0; size <= 2 * UPSTREAM_LIMITS.maxEventChars; size += mebibyte.length) {
    events.push(...reader.push(mebibyte));
  }
  events.push(...reader.push(encoder.encode('\n\ndata: b\n\n')), ...reader.end());
  const message = 'An event of the stream is longer than 8388608 characters.';
  expect(events).toEqual([...data('a'), error(message)]);
});

it('ends with an error at data lines without end', () => {
  const reader = new UpstreamEventReader();
  const line = encoder.encode(`data: ${'x'.repeat(2 ** 20)}\n`);
  const events: UpstreamEvent[] = [];
  for (let count = 0; count < 20; count++) events.push(...reader.push(line));
  events.push(...reader.end());
  expect(events).toEqual([expect.objectContaining({ type: 'error' })]);
});

function read(pieces: readonly Uint8Array[]): UpstreamEvent[] {
  const reader = new UpstreamEventReader();
  return [...pieces.flatMap((bytes) => reader.push(bytes)), ...reader.end()];
}

function data(...texts: readonly string[]): UpstreamEvent[] {
  return texts.map((text) => ({ type: 'data', data: text }));
}

function error(text: string): UpstreamEvent {
  return { type: 'error', data: text };
}
