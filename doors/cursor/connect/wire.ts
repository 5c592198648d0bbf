/** The Connect protocol on the wire: content types, compression, envelopes, and the time limit of a call. */
import type { ChatCore } from './core.ts';
import { type ConnectError, ConnectRefusal } from './errors.ts';
import type { Codec } from './messages.ts';

/** How a call's messages travel: alone in a body, or each in an envelope. */
export type MessageKind = 'unary' | 'stream';

/** The codec that the content type names; null for one that this kind of call does not take. */
export function codecOf({ headers }: Request, kind: MessageKind): Codec | null {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const prefix = kind === 'stream' ? 'application/connect+' : 'application/';
  const codec = type.startsWith(prefix) ? type.slice(prefix.length) : '';
  return codec === 'proto' || codec === 'json' ? codec : null;
}

/** The content types of a kind, for the refusal of others. */
export function contentTypesOf(kind: MessageKind): string {
  const prefix = kind === 'stream' ? 'application/connect+' : 'application/';
  return `${prefix}proto, ${prefix}json`;
}

/** The bytes of the call's only message. @throws {ConnectRefusal} and like {@link ChatCore.readBytes}. */
export async function readMessageBytes(
  request: Request,
  { readBytes }: Pick<ChatCore, 'readBytes'>,
  kind: MessageKind,
): Promise<Uint8Array> {
  const version = request.headers.get('connect-protocol-version') ?? '1';
  if (version !== '1') {
    throw new ConnectRefusal(
      'invalid_argument',
      `connect-protocol-version: must be 1, not ${version}`,
    );
  }
  const body = await readBytes(request);
  if (kind === 'unary') {
    const encoding = encodingOf(request, 'content-encoding');
    return encoding === 'gzip' ? await gunzip(body, readBytes) : body;
  }
  const encoding = encodingOf(request, 'connect-content-encoding');
  const { isCompressed, message } = openEnvelope(body);
  if (!isCompressed) return message;
  if (encoding === 'gzip') return await gunzip(message, readBytes);
  throw new ConnectRefusal(
    'internal',
    'The message is compressed, and connect-content-encoding does not say how',
  );
}

function encodingOf({ headers }: Request, name: string): 'identity' | 'gzip' {
  const encoding = headers.get(name)?.trim().toLowerCase() || 'identity';
  if (encoding === 'identity' || encoding === 'gzip') return encoding;
  throw new ConnectRefusal(
    'unimplemented',
    `${name}: ${encoding} is not supported: use gzip or identity`,
  );
}

const COMPRESSED = 0b01;
const END_STREAM = 0b10;
/** The flags, and the length as a big-endian number of four bytes. */
const HEAD_BYTES = 5;

/** The only envelope of a request whose answer is a stream. */
function openEnvelope(body: Uint8Array): { isCompressed: boolean; message: Uint8Array } {
  if (body.length === 0)
    throw new ConnectRefusal('unimplemented', 'The call needs one message, and has none');
  if (body.length < HEAD_BYTES) throw cutOff(HEAD_BYTES, body.length);
  const flags = body[0] ?? 0;
  if ((flags & ~COMPRESSED) !== 0) {
    throw new ConnectRefusal(
      'invalid_argument',
      `The envelope of a request cannot have the flags ${flags}`,
    );
  }
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  const end = HEAD_BYTES + length;
  if (end > body.length) throw cutOff(end, body.length);
  if (end < body.length) {
    throw new ConnectRefusal(
      'unimplemented',
      'The call takes one message, and more bytes follow it',
    );
  }
  return { isCompressed: flags === COMPRESSED, message: body.subarray(HEAD_BYTES) };
}

function cutOff(promised: number, came: number): ConnectRefusal {
  const message = `The envelope needs ${promised} bytes, and the body has ${came}`;
  return new ConnectRefusal('invalid_argument', message);
}

/** Bounded like a body: a small message can be unpacked to a huge one. */
async function gunzip(bytes: Uint8Array, readBytes: ChatCore['readBytes']): Promise<Uint8Array> {
  try {
    return await readBytes({ body: unpacked(bytes) });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ConnectRefusal('invalid_argument', 'The message is not valid gzip');
  }
}

/** The runtime unpacks at once all that it is given: it gets a small step, and the next when that is read. */
function unpacked(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const { readable, writable } = new DecompressionStream('gzip');
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  let next = reader.read();
  let at = 0;
  const giveStep = () => {
    const step = bytes.subarray(at, at + STEP_BYTES);
    at += STEP_BYTES;
    // A failure is the reader's failure, too.
    (step.length > 0 ? writer.write(step) : writer.close()).catch(() => {});
  };
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      for (;;) {
        const piece = await Promise.race([next, scheduler.wait(0)]);
        if (piece?.done) return controller.close();
        if (piece) {
          next = reader.read();
          return controller.enqueue(piece.value);
        }
        if (at < bytes.length + STEP_BYTES) giveStep();
      }
    },
    async cancel(reason) {
      next.catch(() => {}); // No one reads it any more.
      await reader.cancel(reason);
    },
  });
}

/** At most some 1 MiB when unpacked: gzip makes nothing a thousand times smaller. */
const STEP_BYTES = 1024;

/** A message of a stream in its envelope. */
export function envelope(message: Uint8Array, flags = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEAD_BYTES + message.length);
  bytes[0] = flags;
  new DataView(bytes.buffer).setUint32(1, message.length);
  bytes.set(message, HEAD_BYTES);
  return bytes;
}

/** The last envelope of each stream, in JSON for both codecs. */
export function endEnvelope(error: ConnectError | null): Uint8Array<ArrayBuffer> {
  const end = JSON.stringify(error ? { error } : {});
  return envelope(new TextEncoder().encode(end), END_STREAM);
}

/** The milliseconds that the call may take; null without a limit. @throws {ConnectRefusal} */
export function timeoutOf({ headers }: Request): number | null {
  const text = headers.get('connect-timeout-ms');
  if (text === null) return null;
  // The protocol allows ten digits. Timers take 31 bits: some 24 days.
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text), 2 ** 31 - 1);
  throw new ConnectRefusal('invalid_argument', 'connect-timeout-ms: must be up to ten digits');
}
