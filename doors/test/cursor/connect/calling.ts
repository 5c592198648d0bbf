/** The services of `aiserver.v1` as tests inside workerd call it, byte by byte. */
import { SELF } from 'cloudflare:test';
import { tokenFor } from '../../../../test/worker/api.ts';

export interface CallOptions {
  readonly account?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Calls a method, of AiService unless it names another service, with a body as it is, by default as JSON in an envelope where the answer is a stream. */
export async function callMethod(
  method: string,
  body: BodyInit,
  { account = 'ada', headers = {}, signal }: CallOptions = {},
): Promise<Response> {
  const type = method.includes('Stream') ? 'application/connect+json' : 'application/json';
  const path = method.includes('/') ? method : `AiService/${method}`;
  return await SELF.fetch(`https://drawbridge.test/aiserver.v1.${path}`, {
    method: 'POST',
    headers: {
      'content-type': type,
      authorization: `Bearer ${await tokenFor({ account })}`,
      ...headers,
    },
    body,
    ...(signal && { signal }),
  });
}

/** A message in its envelope. */
export function enveloped(message: Uint8Array | object, flags = 0): Uint8Array<ArrayBuffer> {
  const bytes =
    message instanceof Uint8Array ? message : new TextEncoder().encode(JSON.stringify(message));
  const whole = new Uint8Array(5 + bytes.length);
  new DataView(whole.buffer).setUint32(1, bytes.length);
  whole[0] = flags;
  whole.set(bytes, 5);
  return whole;
}

export interface Envelope {
  readonly flags: number;
  readonly text: string;
}

/** The envelopes of a whole body. */
export async function envelopesOf(response: Response): Promise<Envelope[]> {
  return splitEnvelopes(new Uint8Array(await response.arrayBuffer()));
}

export function splitEnvelopes(bytes: Uint8Array): Envelope[] {
  const found: Envelope[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1);
    const text = new TextDecoder().decode(bytes.subarray(at + 5, at + 5 + length));
    found.push({ flags: bytes[at] ?? 0, text });
    at += 5 + length;
  }
  return found;
}

/** The error in the last envelope. */
export async function streamError(response: Response): Promise<unknown> {
  const end = (await envelopesOf(response)).at(-1);
  return JSON.parse(end?.text ?? '{}').error;
}

/** A request with one message of the human. */
export function saying(text: string, more: object = {}): object {
  return { conversation: [{ text, type: 'MESSAGE_TYPE_HUMAN' }], ...more };
}

export async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Response(bytes).body?.pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(packed ?? null).arrayBuffer());
}
