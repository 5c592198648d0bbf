/** Reads a request's body within bounds of size and time. The Worker does this before it calls any object. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { KIB, SECOND } from '../../shared/units.ts';

/** The bounds of a body. */
export type BodyLimits = Pick<
  typeof REQUEST_LIMITS,
  'maxBodyBytes' | 'bodyMs' | 'bodyBytesPerSecond'
>;

/** Reads at most `maxBodyBytes`, whatever Content-Length says. @throws PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT */
export async function readText(
  { body }: Pick<Request, 'body'>,
  limits: BodyLimits = REQUEST_LIMITS,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  await readPieces(body, limits, (piece) => {
    text += decoder.decode(piece, { stream: true });
  });
  return text + decoder.decode();
}

/** The same for a body of bytes. */
export async function readBytes(
  { body }: Pick<Request, 'body'>,
  limits: BodyLimits = REQUEST_LIMITS,
): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new ArrayBuffer(0, { maxByteLength: limits.maxBodyBytes });
  await readPieces(body, limits, (piece) => {
    const at = buffer.byteLength;
    buffer.resize(at + piece.byteLength);
    new Uint8Array(buffer, at).set(piece);
  });
  return new Uint8Array(buffer.slice(0));
}

/** Drops some of a refused request's body: a client that still sends may otherwise not read why. Never throws. */
export async function dropBody({ body, bodyUsed }: Request): Promise<void> {
  if (!body || bodyUsed || body.locked) return;
  await readPieces(body, DROP_LIMITS, () => undefined).catch(() => undefined);
}

const DROP_LIMITS: BodyLimits = {
  /** What a client may have under way before it looks at the answer. */
  maxBodyBytes: 64 * KIB,
  bodyMs: 2_000,
  bodyBytesPerSecond: REQUEST_LIMITS.bodyBytesPerSecond,
};

async function readPieces(
  body: Request['body'],
  limits: BodyLimits,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  const reader = body?.getReader();
  if (!reader) return;
  const deadline = new BodyDeadline(limits);
  try {
    await readAll(reader, deadline, limits.maxBodyBytes, take);
  } finally {
    deadline.end();
    // Drops the rest of a refused body. Fails harmlessly for a body that was read to its end.
    void reader.cancel().catch(() => undefined);
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  deadline: BodyDeadline,
  maxBodyBytes: number,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  let bytes = 0;
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), deadline.passed]);
    if (done) return;
    bytes += value.byteLength;
    if (bytes > maxBodyBytes) {
      throw new DrawbridgeError(
        'PAYLOAD_TOO_LARGE',
        `The body may hold at most ${maxBodyBytes} bytes`,
      );
    }
    deadline.extend(bytes);
    take(value);
  }
}

/** A deadline that moves with each byte received. Uses one timer, which is set again if it fires early. */
class BodyDeadline {
  /** Rejects with REQUEST_TIMEOUT; never resolves. */
  readonly passed: Promise<never>;
  readonly #startMs = Date.now();
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

function tooSlow(allowedMs: number): DrawbridgeError {
  const seconds = Math.ceil(allowedMs / SECOND);
  return new DrawbridgeError(
    'REQUEST_TIMEOUT',
    `The body did not arrive within ${seconds} s: send it again over a faster connection, or send less`,
  );
}
