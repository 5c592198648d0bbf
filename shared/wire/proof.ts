/** Makes the proofs by which a device shows that it has a key: the key of a session, or of a bridge's machine. */
import { encodeBase64Url } from '../text/base64url.ts';
import { sha256 } from '../text/sha256.ts';
import { DEVICE_ALGORITHM } from './approval-text.ts';
import type { DeviceKey } from './approvals.ts';
import { PROOF_AUDIENCE } from './tokens.ts';

/** A `CryptoKey`: the types of Node have no global of this name. */
export type PrivateKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A key pair of P-256. IndexedDB stores the whole object; a program keeps the private half in a file. */
export interface ProofSigner {
  readonly privateKey: PrivateKey;
  readonly publicKey: DeviceKey['publicKey'];
}

/** What a proof says. With `server`, the host name that the device was given, the key comes with it. */
export interface Proven {
  readonly subject: string;
  readonly nowMs: number;
  readonly server?: string | undefined;
}

/** A JWT (RFC 7519) that shows that this device has the key, for one purpose, once. */
export async function makeProof(
  { privateKey, publicKey }: ProofSigner,
  { subject, nowMs, server }: Proven,
): Promise<string> {
  const isNew = server !== undefined;
  const header = { alg: 'ES256', typ: 'JWT', ...(isNew && { jwk: publicKey }) };
  const iat = Math.floor(nowMs / 1_000);
  const named = { sub: subject, iat, jti: crypto.randomUUID(), ...(isNew && { server }) };
  const text = [header, { aud: PROOF_AUDIENCE, ...named }]
    .map((part) => encodeBase64Url(new TextEncoder().encode(JSON.stringify(part))))
    .join('.');
  const bytes = new TextEncoder().encode(text);
  const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, privateKey, bytes);
  return `${text}.${encodeBase64Url(new Uint8Array(signature))}`;
}

/** `sub` of the proof of a hello: this bridge, by this token, on the connection that got this challenge. */
export async function helloSubject(
  bridgeId: string,
  token: string,
  challenge: string,
): Promise<string> {
  return [bridgeId, await sha256(token), challenge].join(' ');
}
