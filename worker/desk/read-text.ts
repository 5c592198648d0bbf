/** Reads a request's body within bounds of size and time. The Worker does this before it calls any object. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { IMAGE_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { KIB, SECOND } from '../../shared/units.ts';
import { HEAVY_LIMITS } from '../account/limits.ts';
import type { ImageFilter } from '../images/take-out.ts';
import type { BodyTurn } from './body-turn.ts';

/** The bounds of a body. */
export type BodyLimits = Pick<
  typeof REQUEST_LIMITS,
  'maxBodyBytes' | 'bodyMs' | 'bodyBytesPerSecond'
>;

/**
 * Reads at most `maxBodyBytes`, whatever Content-Length says. A large body takes the turn for its later pieces, and may
 * have lost it at the end. With `images`, what it takes out may come on top, up to IMAGE_LIMITS.
 * @throws PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, and as the turn and the filter
 */
export async function readText(
  { body }: Pick<Request, 'body'>,
  limits: BodyLimits = REQUEST_LIMITS,
  turn?: BodyTurn,
  images?: ImageFilter,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  if (!images) {
    const take = (piece: Uint8Array) => {
      text += decoder.decode(piece, { stream: true });
    };
    await readPieces(body, { limits, turn, take });
    return text + decoder.decode();
  }
  const { maxBodyBytes } = limits;
  let bytes = 0;
  const add = async (part: Promise<string>) => {
    text += await part;
    if (bytes - images.takenChars > maxBodyBytes)
      throw tooLarge(maxBodyBytes, ' beside its images');
  };
  const take = async (piece: Uint8Array) => {
    bytes += piece.byteLength;
    await add(images.push(decoder.decode(piece, { stream: true })));
  };
  const whole = { ...limits, maxBodyBytes: Math.max(maxBodyBytes, IMAGE_LIMITS.maxBodyBytes) };
  await readPieces(body, { limits: whole, turn, take });
  await add(images.push(decoder.decode()));
  await add(images.end());
  return text;
}

/** The same for a body of bytes. */
export async function readBytes(
  { body }: Pick<Request, 'body'>,
  limits: BodyLimits = REQUEST_LIMITS,
  turn?: BodyTurn,
): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new ArrayBuffer(0, { maxByteLength: limits.maxBodyBytes });
  const take = (piece: Uint8Array) => {
    const at = buffer.byteLength;
    buffer.resize(at + piece.byteLength);
    new Uint8Array(buffer, at).set(piece);
  };
  await readPieces(body, { limits, turn, take });
  return new Uint8Array(buffer.slice(0));
}

/** Drops some of a refused request's body: a client that still sends may otherwise not read why. Never throws. */
export async function dropBody({ body, bodyUsed }: Request): Promise<void> {
  if (!body || bodyUsed || body.locked) return;
  await readPieces(body, { limits: DROP_LIMITS, take: () => undefined }).catch(() => undefined);
}

const DROP_LIMITS: BodyLimits = {
  /** What a client may have under way before it looks at the answer. */
  maxBodyBytes: 64 * KIB,
  bodyMs: 2_000,
  bodyBytesPerSecond: REQUEST_LIMITS.bodyBytesPerSecond,
};

interface PieceReading {
  readonly limits: BodyLimits;
  readonly turn?: BodyTurn | undefined;
  /** The piece is gone when it returns. The sender waits until its promise is settled. */
  readonly take: (piece: Uint8Array) => void | Promise<void>;
}

async function readPieces(body: Request['body'], reading: PieceReading): Promise<void> {
  // The runtime's own pieces have 4 KiB.
  const reader = body?.getReader({ mode: 'byob' });
  if (!reader) return;
  const deadline = new BodyDeadline(reading.limits);
  try {
    await readAll(reader, deadline, reading);
  } finally {
    deadline.end();
    // Drops the rest of a refused body. Fails harmlessly for a body that was read to its end.
    void reader.cancel().catch(() => undefined);
  }
}

async function readAll(
  reader: ReadableStreamBYOBReader,
  deadline: BodyDeadline,
  { limits: { maxBodyBytes }, turn, take }: PieceReading,
): Promise<void> {
  let bytes = 0;
  for (let buffer = new ArrayBuffer(PIECE_BYTES); ; ) {
    if (turn && bytes > HEAVY_LIMITS.bodyBytes) await deadline.pause(() => turn.take());
    const piece = reader.read(new Uint8Array(buffer));
    const came = turn ? turn.until(piece) : piece;
    const { done, value } = await Promise.race([came, deadline.passed]);
    if (done) return;
    bytes += value.byteLength;
    if (bytes > maxBodyBytes) {
      throw tooLarge(maxBodyBytes);
    }
    deadline.extend(bytes);
    const taking = take(value);
    if (taking) await deadline.pause(() => taking);
    buffer = value.buffer;
  }
}

const PIECE_BYTES = 64 * KIB;

/** A deadline that moves with each byte received. Uses one timer, which is set again if it fires early. */
class BodyDeadline {
  /** Rejects with REQUEST_TIMEOUT; never resolves. */
  readonly passed: Promise<never>;
  #startMs = Date.now();
  readonly #limits: BodyLimits;
  readonly #fail: (reason: Error) => void;
  #bytes = 0;
  #timer: ReturnType<typeof setTimeout>;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined); // Prevents an unhandled rejection while no read is under way.
    this.passed = promise;
    this.#fail = reject;
    this.#timer = setTimeout(() => this.#look(), limits.bodyMs);
  }

  extend(bytes: number): void {
    this.#bytes = bytes;
  }

  /** Does not run while the sender waits for us. */
  async pause(wait: () => Promise<void>): Promise<void> {
    clearTimeout(this.#timer);
    const pausedMs = Date.now();
    try {
      await wait();
    } finally {
      this.#startMs += Date.now() - pausedMs;
      this.#look();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const { bodyMs, bodyBytesPerSecond } = this.#limits;
    const allowedMs = bodyMs + (this.#bytes / bodyBytesPerSecond) * SECOND;
    const leftMs = this.#startMs + allowedMs - Date.now();
    if (leftMs > 0) this.#timer = setTimeout(() => this.#look(), leftMs);
    else this.#fail(tooSlow(allowedMs));
  }
}

function tooLarge(maxBodyBytes: number, beside = ''): DrawbridgeError {
  const message = `The body may hold at most ${maxBodyBytes} bytes${beside}`;
  return new DrawbridgeError('PAYLOAD_TOO_LARGE', message);
}

function tooSlow(allowedMs: number): DrawbridgeError {
  const seconds = Math.ceil(allowedMs / SECOND);
  return new DrawbridgeError(
    'REQUEST_TIMEOUT',
    `The body did not arrive within ${seconds} s: send it again over a faster connection, or send less`,
  );
}
