/** Whether a passkey has signed: Web Authentication Level 3, sections 5.8.1 (client data), 6.1 (authenticator data) and 7.2 (checks). */
import * as z from 'zod';
import { decodeBase64Url, encodeBase64Url } from '../text/base64url.ts';
import { parseJson } from '../text/json.ts';
import { DEVICE_ALGORITHM } from './approval-text.ts';
import type { DeviceKey } from './approvals.ts';
import type { PasskeySignature } from './passkey.ts';

/** A passkey's public key, which is of P-256 (ES256), and the page that it belongs to. */
export interface PasskeyKey {
  readonly publicKey: DeviceKey['publicKey'];
  readonly origin: string;
}

const ClientData = z.object({
  type: z.literal('webauthn.get'),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.literal(false).optional(),
  topOrigin: z.never().optional(),
});

/** Whether the passkey has signed this text, on its own page and with its person recognised. Never throws. */
export async function isSignedByPasskey(
  text: string,
  { publicKey, origin }: PasskeyKey,
  signature: PasskeySignature,
): Promise<boolean> {
  try {
    const data = decodeBase64Url(signature.authenticatorData);
    const clientData = decodeBase64Url(signature.clientData);
    const said = ClientData.parse(parseJson(new TextDecoder().decode(clientData)));
    if (said.origin !== origin || said.challenge !== encodeBase64Url(await hashOf(text)))
      return false;
    const host = await hashOf(new URL(origin).hostname);
    const flags = data[HOST_BYTES] ?? 0;
    if (!isSame(data.subarray(0, HOST_BYTES), host) || (flags & MUST) !== MUST) return false;
    const key = await crypto.subtle.importKey('jwk', publicKey, DEVICE_ALGORITHM, false, [
      'verify',
    ]);
    const signed = new Uint8Array([...data, ...(await sha256(clientData))]);
    return await crypto.subtle.verify(
      DEVICE_ALGORITHM,
      key,
      decodeBase64Url(signature.value),
      signed,
    );
  } catch {
    return false;
  }
}

/** The host's hash comes first in the authenticator's data, then the flags. */
const HOST_BYTES = 32;
/** The person was there (bit 0), and the authenticator knew them (bit 2): by a finger, a face or a PIN. */
const MUST = 0b101;

async function hashOf(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return await sha256(Uint8Array.from(new TextEncoder().encode(text)));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
