/** A browser's push service behind the Worker's `fetch`, beside a model, and the browser that reads what it gets. */
import { base64url } from 'jose';
import { vi } from 'vitest';
import type { BrowserSubscription } from '../../../shared/api/push.ts';
import { framesOf, type ScriptedReply, streamOf } from '../../far-ends/reply-script.ts';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly redirect: string;
}

export interface Browser {
  readonly subscription: BrowserSubscription;
  /** Decrypts a message as RFC 8291 and RFC 8188 say. */
  read(received: Received): Promise<unknown>;
}

/** `reply` is the model's answer. `answer` is the push service's, or the ntfy server's. */
export function servePushes(
  reply: () => ScriptedReply | Promise<ScriptedReply>,
  answer: (received: Received) => Response = () => new Response(null, { status: 201 }),
): Received[] {
  const received: Received[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url.startsWith('http://model.test/')) return streamOf(framesOf(await reply()));
    const { method, url, headers, redirect } = request;
    const body = new Uint8Array(await request.arrayBuffer());
    const one = { method, url, headers, redirect, body };
    received.push(one);
    return answer(one);
  });
  return received;
}

const CURVE = { name: 'ECDH', namedCurve: 'P-256' };

/** A browser that has subscribed at Chrome's push service. */
export async function newBrowser(
  endpoint = `https://fcm.googleapis.com/fcm/send/${crypto.randomUUID()}`,
): Promise<Browser> {
  const pair = (await crypto.subtle.generateKey(CURVE, true, ['deriveBits'])) as CryptoKeyPair;
  const own = new Uint8Array((await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer);
  const auth = crypto.getRandomValues(new Uint8Array(16));
  const keys = { p256dh: base64url.encode(own), auth: base64url.encode(auth) };
  return {
    subscription: { endpoint, keys },
    async read({ body }) {
      const salt = body.slice(0, 16);
      const sender = body.slice(21, 21 + (body[20] ?? 0));
      const point = await crypto.subtle.importKey('raw', sender, CURVE, false, []);
      const agreement = { name: 'ECDH', $public: point, public: point }; // workerd's types have the first name.
      const shared = new Uint8Array(
        await crypto.subtle.deriveBits(agreement, pair.privateKey, 256),
      );
      const info = bytesOf('WebPush: info\0', own, sender);
      const ikm = await hkdf(shared, auth, info, 32);
      const key = await hkdf(ikm, salt, bytesOf('Content-Encoding: aes128gcm\0'), 16);
      const iv = await hkdf(ikm, salt, bytesOf('Content-Encoding: nonce\0'), 12);
      const aes = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt']);
      const sealed = body.slice(21 + sender.length);
      const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, aes, sealed);
      const padded = new TextDecoder().decode(plain);
      return JSON.parse(padded.slice(0, padded.lastIndexOf('\u0002')));
    },
  };
}

async function hkdf(
  ikm: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', ikm, 'HKDF', false, ['deriveBits']);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, length * 8));
}

function bytesOf(text: string, ...more: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...new TextEncoder().encode(text), ...more.flatMap((part) => [...part])]);
}
