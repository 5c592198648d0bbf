/** The server's key for Web Push (VAPID, RFC 8292): push services take messages to a subscription from this key alone. */
import { base64url } from 'jose';
import type { PushKeys } from '../ports/directory.ts';

/** A new pair of keys of P-256. */
export async function newPushKeys(): Promise<PushKeys> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = (await crypto.subtle.generateKey(algorithm, true, ['sign'])) as CryptoKeyPair;
  const point = (await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer;
  const { d = '' } = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as JsonWebKey;
  return { publicKey: base64url.encode(new Uint8Array(point)), privateKey: d };
}
