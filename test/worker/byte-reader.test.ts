/** Real byte streams of the runtime, which Node does not have: so beside the room's other tests, not among them. */
import { expect, it, vi } from 'vitest';
import { Body, ConnectionError } from '../../packages/model/body.ts';
import { loopGauge } from '../../shared/load.ts';

const PIECES = Array.from({ length: 40 }, (_, index) => `data: {"token": ${index}}\n\n`);

function newStream() {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const write = async (text: string) => await writer.write(new TextEncoder().encode(text));
  return { body: new Body(new Response(readable)), readable, writer, write };
}

async function readAll(body: Body): Promise<string[]> {
  const texts: string[] = [];
  for (let bytes = await body.read(); bytes; bytes = await body.read())
    texts.push(new TextDecoder().decode(bytes));
  return texts;
}

async function writeSlowly({ write, writer }: ReturnType<typeof newStream>): Promise<void> {
  for (const piece of PIECES) {
    await write(piece);
    await scheduler.wait(2);
  }
  await writer.close();
}

function beLate(coalesceMs: number): void {
  vi.spyOn(loopGauge, 'isLate', 'get').mockReturnValue(true);
  vi.spyOn(loopGauge, 'coalesceMs', 'get').mockReturnValue(coalesceMs);
}

it('each piece is read when it comes while the loop is not late', async () => {
  vi.spyOn(loopGauge, 'isLate', 'get').mockReturnValue(false);
  const stream = newStream();
  const [texts] = await Promise.all([readAll(stream.body), writeSlowly(stream)]);
  expect(texts).toEqual(PIECES);
});

it('fewer and larger pieces are read while it is late, with every byte up to the end', async () => {
  beLate(40);
  const stream = newStream();
  const [texts] = await Promise.all([readAll(stream.body), writeSlowly(stream)]);
  expect(texts.join('')).toBe(PIECES.join(''));
  expect(texts.length).toBeLessThan(PIECES.length / 2);
});

it('pieces stay as they were when later ones are read into the same buffer', async () => {
  const { body, write, writer } = newStream();
  const written = write('first')
    .then(() => write('other'))
    .then(() => writer.close());
  const first = await body.read();
  await body.read();
  expect(new TextDecoder().decode(first ?? undefined)).toBe('first');
  await written;
});

it('the end is the end, however often it is read', async () => {
  const { body, writer } = newStream();
  const closed = writer.close();
  expect([await body.peek(), await body.read(), await body.read()]).toEqual(['', null, null]);
  await closed;
});

it('a stream that breaks off is a broken connection', async () => {
  const { body, writer } = newStream();
  const reading = body.read();
  reading.catch(() => {});
  await writer.abort(new Error('reset'));
  await expect(reading).rejects.toThrow(ConnectionError);
  await expect(body.read()).rejects.toThrow(ConnectionError);
});

it('a cancel ends a read that waits for more bytes', async () => {
  beLate(1_000);
  const { body, write } = newStream();
  write('first').catch(() => {});
  await body.read();
  write('second').catch(() => {});
  const reading = body.read();
  reading.catch(() => {});
  body.cancel();
  expect(await reading.catch(() => null)).toBeNull();
});

const source = {
  start: (controller: { enqueue(chunk: Uint8Array): void; close(): void }) => {
    for (const piece of PIECES) controller.enqueue(new TextEncoder().encode(piece));
    controller.close();
  },
};

it.each([
  ['bytes', () => new ReadableStream({ type: 'bytes', ...source })],
  ['values', () => new ReadableStream(source)],
])('streams of %s that JavaScript makes are read too', async (_, make) => {
  const texts = await readAll(new Body(new Response(make())));
  expect(texts.join('')).toBe(PIECES.join(''));
});
