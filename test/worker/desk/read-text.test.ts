import { describe, expect, it, vi } from 'vitest';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { KIB, MIB } from '../../../shared/units.ts';
import { turnOf } from '../../../worker/account/heavy-work.ts';
import { HEAVY_LIMITS } from '../../../worker/account/limits.ts';
import { BodyTurn } from '../../../worker/desk/body-turn.ts';
import { readText } from '../../../worker/desk/read-text.ts';
import { newAccount } from '../people/people.ts';

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
    expect(await isCancelled()).toBe(true);
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
    expect(await isCancelled()).toBe(true);
  });
});

describe('a large body', () => {
  const PIECE = new Uint8Array(64 * KIB).fill(32);
  const LARGE = { maxBodyBytes: MIB, bodyMs: 10_000, bodyBytesPerSecond: 1_000 * MIB };

  /** Sent but for its last piece. */
  function reading(account: string, left = new AbortController().signal, limits = LARGE) {
    const body = heldBody();
    const turn = new BodyTurn(account, left);
    const text = readText({ body: body.stream }, limits, turn);
    for (let piece = 1; piece < 16; piece++) body.push(PIECE);
    return { ...body, turn, text };
  }

  it('is not read on while it waits for its turn, and its time does not run', async () => {
    const account = newAccount();
    const held = await turnOf(account);
    const limits = { ...LARGE, bodyMs: 500 };
    const { text, push, end, readBytes } = reading(account, undefined, limits);
    await scheduler.wait(2 * limits.bodyMs);
    expect(readBytes()).toBeGreaterThan(HEAVY_LIMITS.bodyBytes);
    expect(readBytes()).toBeLessThanOrEqual(HEAVY_LIMITS.bodyBytes + PIECE.byteLength);
    held[Symbol.dispose]();
    push(PIECE);
    end();
    expect(await text).toHaveLength(LARGE.maxBodyBytes);
  });

  it('gives its turn back while its sender is slow', async () => {
    const account = newAccount();
    const { text, turn, push, end, readBytes } = reading(account);
    await vi.waitFor(() => expect(readBytes()).toBe(15 * PIECE.byteLength));
    const between = await turnOf(account);
    expect(turn.isHeld).toBe(false);
    push(PIECE);
    end();
    await scheduler.wait(3 * HEAVY_LIMITS.slowMs);
    expect(turn.isHeld).toBe(false);
    between[Symbol.dispose]();
    expect(await text).toHaveLength(LARGE.maxBodyBytes);
    turn[Symbol.dispose]();
  });

  it('leaves the line with its sender', async () => {
    const account = newAccount();
    const held = await turnOf(account);
    const leaving = new AbortController();
    const { text, isCancelled } = reading(account, leaving.signal);
    leaving.abort(new Error('gone'));
    expect(await codeOf(text)).toBe('Error: gone');
    expect(await isCancelled()).toBe(true);
    held[Symbol.dispose]();
    (await turnOf(account))[Symbol.dispose]();
  });

  it('is not read where too many wait', async () => {
    const account = newAccount();
    const held = await turnOf(account);
    const waiting = Array.from({ length: HEAVY_LIMITS.maxWaiting }, () => turnOf(account));
    const { text, isCancelled } = reading(account);
    expect(await codeOf(text)).toBe('RATE_LIMITED');
    expect(await isCancelled()).toBe(true);
    held[Symbol.dispose]();
    for (const turn of waiting) (await turn)[Symbol.dispose]();
  });
});

/** A body whose pieces the test sends. Each is sent once the one before was read. */
function heldBody() {
  const { readable: stream, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  let readBytes = 0;
  return {
    stream,
    push(bytes: Uint8Array) {
      const onRead = () => {
        readBytes += bytes.byteLength;
      };
      writer.write(bytes).then(onRead, () => undefined);
    },
    end: () => void writer.close(),
    isCancelled: () =>
      writer.write(Uint8Array.of(32)).then(
        () => false,
        () => true,
      ),
    readBytes: () => readBytes,
  };
}

async function codeOf(text: Promise<string>): Promise<string> {
  try {
    return `read ${await text}`;
  } catch (error) {
    return error instanceof DrawbridgeError ? error.code : String(error);
  }
}
