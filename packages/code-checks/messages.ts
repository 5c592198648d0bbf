/**
 * Exchanges messages of JSON-RPC with a program. Own code, because the usual libraries keep as many bytes as a program
 * announces, and queue as many messages as it sends.
 */
import { addAbortListener } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { newDeferred } from '../../machine/deferred.ts';
import { parseJson } from '../../shared/text/json.ts';
import { TERMINAL_LIMITS } from '../sandbox/index.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';

/** What the program may ask, and what it reports. */
export interface Handlers {
  /** The answer to a request; undefined for one that nothing here answers. */
  readonly answer: (method: string, params: unknown) => unknown;
  readonly onReport: (method: string, params: unknown) => void;
  /** Called once, for the first message that breaks a bound or is none. Nothing is read after it. */
  readonly onFault: (reason: string) => void;
}

/** What a program answers that refuses a request. */
export class RefusedRequest extends Error {
  readonly code: number;

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message);
    this.code = code;
  }
}

const Id = z.union([z.string(), z.number()]);

/** A request has both, an answer only the id, a report only the method. */
const Message = z.object({
  id: Id.nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

export class Messages {
  readonly #input: Writable;
  readonly #handlers: Handlers;
  readonly #open = new Map<number, { resolve(result: unknown): void; reject(why: Error): void }>();
  #lastId = 0;
  #hasFault = false;

  constructor(output: Readable, input: Writable, handlers: Handlers) {
    this.#input = input;
    this.#handlers = handlers;
    input.on('error', () => {}); // A program that ends says why by its end.
    const frames = new Frames((text) => this.#receive(text));
    let taken = 0;
    output
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        if (this.#hasFault) return;
        try {
          frames.take(chunk);
        } catch (error) {
          return this.#fail(error instanceof Error ? error.message : String(error));
        }
        taken += chunk.length;
        if (taken < TERMINAL_LIMITS.maxOutputCharsPerPause) return;
        taken = 0;
        output.pause();
        setTimeout(() => output.resume(), TERMINAL_LIMITS.outputPauseMs);
      });
  }

  /** Rejects with a {@link RefusedRequest}, with the signal's reason, or where nothing can be sent. */
  async ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = newDeferred<unknown>();
    this.#open.set(id, { resolve, reject });
    using _leaving = addAbortListener(signal, () => {
      this.report('$/cancelRequest', { id });
      reject(signal.reason);
    });
    try {
      this.#send({ id, method, params });
      return await promise;
    } finally {
      this.#open.delete(id);
    }
  }

  report(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    if (this.#hasFault || !this.#input.writable) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.#input.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#input.write(body);
    if (this.#input.writableLength > DIAGNOSTICS_LIMITS.maxUnreadBytes) {
      this.#fail('it does not read its input');
    }
  }

  #receive(text: string): void {
    const { id, method, params, result, error } = read(text);
    if (method === undefined) {
      const asked = this.#open.get(Number(id));
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new RefusedRequest(error));
      return;
    }
    if (id === undefined || id === null) return this.#handlers.onReport(method, params);
    const answer = this.#handlers.answer(method, params);
    this.#send(answer === undefined ? { id, error: UNKNOWN_METHOD } : { id, result: answer });
  }

  #fail(reason: string): void {
    if (this.#hasFault) return;
    this.#hasFault = true;
    this.#handlers.onFault(reason);
  }
}

function read(text: string): z.infer<typeof Message> {
  try {
    return Message.parse(parseJson(text));
  } catch {
    throw noMessage(); // The parsers' own words quote the text.
  }
}

const UNKNOWN_METHOD = { code: -32601, message: 'not supported' };

/** Cuts a stream into the bodies of its messages. Throws for a stream that has none, or one that is too long. */
class Frames {
  readonly #onBody: (text: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Of the body that comes; undefined within a head. */
  #length: number | undefined;

  constructor(onBody: (text: string) => void) {
    this.#onBody = onBody;
  }

  take(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    // A body that comes in many pieces is joined once, when it is whole.
    if (this.#length !== undefined && this.#bytes < this.#length) return;
    let rest = Buffer.concat(this.#parts);
    for (let end = this.#endIn(rest); end !== undefined; end = this.#endIn(rest)) {
      const piece = rest.subarray(0, end).toString('utf8');
      rest = rest.subarray(end);
      const isHead = this.#length === undefined;
      this.#length = isHead ? lengthIn(piece) : undefined;
      if (!isHead) this.#onBody(piece);
    }
    this.#parts = [rest];
    this.#bytes = rest.length;
  }

  /** Where the head or the body ends; undefined where the end has not come. */
  #endIn(bytes: Buffer): number | undefined {
    if (this.#length !== undefined) return bytes.length < this.#length ? undefined : this.#length;
    const at = bytes.subarray(0, DIAGNOSTICS_LIMITS.maxHeaderBytes).indexOf('\r\n\r\n');
    if (at >= 0) return at + 4;
    if (bytes.length >= DIAGNOSTICS_LIMITS.maxHeaderBytes) throw noMessage();
    return undefined;
  }
}

function lengthIn(head: string): number {
  const [, digits] = /^content-length:\s*(\d{1,12})\s*$/im.exec(head) ?? [];
  if (digits === undefined) throw noMessage();
  const length = Number(digits);
  if (length <= DIAGNOSTICS_LIMITS.maxMessageBytes) return length;
  throw new Error(`it sends a message of more than ${DIAGNOSTICS_LIMITS.maxMessageBytes} bytes`);
}

function noMessage(): Error {
  return new Error('it prints something else than messages');
}
