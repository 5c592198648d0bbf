import { describe, expect, it } from 'vitest';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { readText } from '../../../worker/desk/read-text.ts';

const LIMITS = { maxBodyBytes: 1_000, bodyMs: 60, bodyBytesPerSecond: 1_000 };

describe('a body', () => {
  it('is read whole, in whatever pieces it comes', async () => {
    const bytes = new TextEncoder().encode('{"a": "äöü😀"}');
    const { stream, push, end } = heldBody();
    const text = readText({ body: stream }, LIMITS);
    for (const byte of bytes) push(Uint8Array.of(byte));
    end();
    expect(await text).toBe('{"a": "äöü😀"}');
    expect(await readText({ body: null }, LIMITS)).toBe('');
  });

  it.each([
    ['nothing comes', 0],
    ['it stops', 3],
  ])('is not waited for where %s', async (_, pieces) => {
    const { stream, push, isCancelled } = heldBody();
    const text = readText({ body: stream }, LIMITS);
    for (let piece = 0; piece < pieces; piece++) push(Uint8Array.of(32));
    expect(await codeOf(text)).toBe('REQUEST_TIMEOUT');
    expect(isCancelled()).toBe(true);
  });

  it('is not waited for where it trickles', async () => {
    const { stream, push } = heldBody();
    const text = codeOf(readText({ body: stream }, LIMITS));
    let isOver = false;
    void text.then(() => {
      isOver = true;
    });
    for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 5))) push(Uint8Array.of(32));
    expect(await text).toBe('REQUEST_TIMEOUT');
  });

  it('has more time the more of it has come', async () => {
    const { stream, push, end } = heldBody();
    const text = readText({ body: stream }, { ...LIMITS, bodyMs: 1 });
    push(new Uint8Array(1_000).fill(32));
    await new Promise((resolve) => setTimeout(resolve, 50));
    end();
    expect(await text).toHaveLength(1_000);
  });

  it('is not read beyond its bound', async () => {
    const { stream, push, isCancelled } = heldBody();
    push(new Uint8Array(1_001));
    expect(await codeOf(readText({ body: stream }, LIMITS))).toBe('PAYLOAD_TOO_LARGE');
    expect(isCancelled()).toBe(true);
  });
});

/** A body whose pieces the test sends. */
function heldBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start(made) {
      controller = made;
    },
    cancel() {
      isCancelled = true;
    },
  });
  return {
    stream,
    push: (bytes: Uint8Array) => isCancelled || controller?.enqueue(bytes),
    end: () => controller?.close(),
    isCancelled: () => isCancelled,
  };
}

async function codeOf(text: Promise<string>): Promise<string> {
  try {
    return `read ${await text}`;
  } catch (error) {
    return error instanceof DrawbridgeError ? error.code : String(error);
  }
}
