/** A request's body as text, within bounds of size and of time. No object is at work for a request whose body still comes. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';

/** What a body may take. */
export type BodyLimits = Pick<
  typeof REQUEST_LIMITS,
  'maxBodyBytes' | 'bodyMs' | 'bodyBytesPerSecond'
>;

/**
 * Reads no more than the limit, whatever Content-Length says.
 * @throws {DrawbridgeError} PAYLOAD_TOO_LARGE, and REQUEST_TIMEOUT for a body that comes too slowly.
 */
export async function readText(
  { body }: Pick<Request, 'body'>,
  limits: BodyLimits = REQUEST_LIMITS,
): Promise<string> {
  const reader = body?.getReader();
  if (!reader) return '';
  const deadline = new BodyDeadline(limits);
  try {
    return await readAll(reader, deadline, limits.maxBodyBytes);
  } finally {
    deadline.end();
    // Of a body that was read to its end nothing is left; the rest of any other is not wanted.
    void reader.cancel().catch(() => undefined);
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  deadline: BodyDeadline,
  maxBodyBytes: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), deadline.passed]);
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBodyBytes) {
      throw new DrawbridgeError('PAYLOAD_TOO_LARGE', `The body may hold ${maxBodyBytes} bytes`);
    }
    deadline.extend(bytes);
    text += decoder.decode(value, { stream: true });
  }
}

/** Stands so long after the request's beginning as the bytes that came allow. One timer, set again when it fires early. */
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
    promise.catch(() => undefined); // Without a read under way nobody waits for it.
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
    const allowedMs = bodyMs + (this.#bytes / bodyBytesPerSecond) * MS_PER_SECOND;
    const leftMs = this.#startMs + allowedMs - Date.now();
    if (leftMs > 0) this.#timer = setTimeout(() => this.#look(), leftMs);
    else this.#fail(tooSlow(allowedMs));
  }
}

const MS_PER_SECOND = 1000;

function tooSlow(allowedMs: number): DrawbridgeError {
  const seconds = Math.ceil(allowedMs / MS_PER_SECOND);
  return new DrawbridgeError(
    'REQUEST_TIMEOUT',
    `The body did not come within ${seconds} s: send it again over a faster line, or send less`,
  );
}
