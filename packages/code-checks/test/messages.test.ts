/** Messages with a program, in pieces of every size, and beyond every bound. */
import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { DIAGNOSTICS_LIMITS } from '../limits.ts';
import { Messages } from '../messages.ts';

const NEVER = new AbortController().signal;

function framed(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** What is printed is read; what is written is in `sent`. */
function exchange(input: Writable = new PassThrough()) {
  const output = new PassThrough();
  const seen: unknown[] = [];
  const messages = new Messages(output, input, {
    answer: (method) => (method === 'known' ? { method } : undefined),
    onReport: (method, params) => seen.push([method, params]),
    onFault: (reason) => seen.push(reason),
  });
  const say = (...chunks: (Buffer | string)[]) => {
    for (const chunk of chunks) output.emit('data', Buffer.from(chunk));
  };
  return { messages, seen, say, input };
}

it('messages are read whole, wherever their bytes are cut', async () => {
  const report = { method: 'note', params: { text: 'é😀' } };
  const bytes = Buffer.concat([framed(report), framed({ id: 1, result: 'ä' })]);
  for (let at = 0; at <= bytes.length; at++) {
    const { messages, seen, say } = exchange();
    const asked = messages.ask('question', {}, NEVER);
    say(bytes.subarray(0, at), bytes.subarray(at));
    expect(seen).toEqual([['note', report.params]]);
    expect(await asked).toBe('ä');
  }
  const { seen, say } = exchange();
  say(...[...bytes].map((byte) => Buffer.from([byte])));
  expect(seen).toEqual([['note', report.params]]);
});

it('requests of the program are answered or refused', () => {
  const { say, input } = exchange();
  say(framed({ id: 'a', method: 'known' }), framed({ id: 2, method: 'other' }));
  const sent = String((input as PassThrough).read());
  expect(sent).toContain('{"jsonrpc":"2.0","id":"a","result":{"method":"known"}}');
  expect(sent).toContain('"id":2,"error":{"code":-32601');
});

it.each([
  ['no head', 'x'.repeat(DIAGNOSTICS_LIMITS.maxHeaderBytes), 'something else than messages'],
  ['a head without a length', 'A: b\r\n\r\n', 'something else than messages'],
  ['a length beyond all bounds', 'Content-Length: 9999999999999999\r\n\r\n', 'something else'],
  ['a long message', 'Content-Length: 3000000\r\n\r\n', 'more than'],
  ['a body that is no JSON', 'Content-Length: 2\r\n\r\n{]', 'something else than messages'],
  ['a body that is no message', framed([1]), 'something else than messages'],
  ['a deep body', framed(JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)), 'something else'],
])('%s is a fault, and nothing is read after it', (_, text, reason) => {
  const { seen, say } = exchange();
  say(text, framed({ method: 'note', params: {} }));
  expect(seen).toEqual([expect.stringContaining(reason)]);
});

it('a program that does not read is a fault', () => {
  const { messages, seen } = exchange(new Writable({ write: () => {} }));
  const text = 'x'.repeat(DIAGNOSTICS_LIMITS.maxUnreadBytes / 4);
  for (let count = 0; count < 6; count++) messages.report('text', { text });
  expect(seen).toEqual(['it does not read its input']);
});

it('a question ends with its signal, and the program learns of it', async () => {
  const { messages, input } = exchange();
  const cancelled = new AbortController();
  const asked = messages.ask('question', {}, cancelled.signal);
  cancelled.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  expect(String((input as PassThrough).read())).toContain('"$/cancelRequest","params":{"id":1}');
});
