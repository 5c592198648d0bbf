import { expect, it } from 'vitest';
import { readEvents, type SentEvent, textIn, wholeFramesOf } from '../../bench/sse-text.ts';
import { formatEvent } from '../../shared/api/sse.ts';

const SENT: readonly SentEvent[] = [
  {
    event: {
      type: 'document_start',
      document: { id: 'doc_001', type: 'text', sequence: 1, metadata: {} },
    },
    position: 3,
  },
  {
    event: { type: 'content_delta', documentId: 'doc_001', delta: 'one: "two"\n\nid: 7' },
    position: 20,
  },
  { event: { type: 'heartbeat' }, position: null },
  { event: { type: 'content_delta', documentId: 'doc_001', delta: '.' }, position: 21 },
];
const FRAMES = SENT.map(({ event, position }) => formatEvent(event, position, 'named'));

it('reads the frames that are whole, wherever the stream is cut', () => {
  const retry = 'retry: 100\n\n';
  const text = retry + FRAMES.join('');
  for (let cut = 0; cut <= text.length; cut++) {
    let end = retry.length;
    const whole = FRAMES.filter((frame) => {
      end += frame.length;
      return end <= cut;
    });
    const read = readEvents(text.slice(0, cut));
    expect(read).toEqual(SENT.slice(0, whole.length));
    const frames = cut < retry.length ? '' : retry + whole.join('');
    expect(wholeFramesOf(text.slice(0, cut))).toBe(frames);
  }
});

it('reads what their deltas say', () => {
  expect(textIn(readEvents(FRAMES.join('')))).toBe('one: "two"\n\nid: 7.');
});

it('does not pass over an event that it does not know', () => {
  expect(() => readEvents('event: news\nid: 1\ndata: {}\n\n')).toThrow('unknown form: news');
});
