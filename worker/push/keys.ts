/** The server's key for Web Push (VAPID, RFC 8292): push services take messages to a subscription from this key alone. */
import { base64url, exportJWK, generateKeyPair } from 'jose';
import type { PushKeys } from '../ports.ts';

/** The first byte of an uncompressed point (SEC 1, section 2.3.3). */
const UNCOMPRESSED = 4;

/** A new pair of keys of P-256. */
export async function newPushKeys(): Promise<PushKeys> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const { x = '', y = '', d = '' } = await exportJWK(pair.privateKey);
  const point = [UNCOMPRESSED, ...base64url.decode(x), ...base64url.decode(y)];
  return { publicKey: base64url.encode(Uint8Array.from(point)), privateKey: d };
}
