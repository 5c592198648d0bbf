/** A passkey in software, which signs as an authenticator does (Web Authentication Level 3, section 6.3.3). */

import { encodeBase64Url } from '../../shared/text/base64url.ts';
import type { DeviceKey } from '../../shared/wire/approvals.ts';
import type { PasskeySignature } from '../../shared/wire/passkey.ts';

/** What an authenticator or a page could do otherwise. */
export interface Deviation {
  readonly host?: string;
  readonly flags?: number;
  /** Members of the client data. */
  readonly said?: Readonly<Record<string, unknown>>;
}

export const PASSKEY_ORIGIN = 'https://drawbridge.example.com';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export async function newPasskey(origin = PASSKEY_ORIGIN) {
  const made = await crypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  const { publicKey, privateKey } = made as Extract<typeof made, { privateKey: unknown }>;
  const { x = '', y = '' } = Object(await crypto.subtle.exportKey('jwk', publicKey));
  const credentialId = encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)));
  const key: DeviceKey = {
    deviceId: `device_${crypto.randomUUID()}`,
    label: 'Phone',
    publicKey: { kty: 'EC', crv: 'P-256', x, y },
    passkey: { credentialId, origin },
  };
  const assert = async (
    text: string,
    { host, flags = 0x1d, said }: Deviation = {},
  ): Promise<PasskeySignature> => {
    const challenge = encodeBase64Url(await sha256(text));
    const clientData = JSON.stringify({
      type: 'webauthn.get',
      challenge,
      origin,
      crossOrigin: false,
      ...said,
    });
    const data = [...(await sha256(host ?? new URL(origin).hostname)), flags, 0, 0, 0, 0];
    const signed = Uint8Array.from([...data, ...(await sha256(clientData))]);
    return {
      authenticatorData: encodeBase64Url(Uint8Array.from(data)),
      clientData: encodeBase64Url(new TextEncoder().encode(clientData)),
      value: encodeBase64Url(new Uint8Array(await crypto.subtle.sign(ECDSA, privateKey, signed))),
    };
  };
  return { key, credentialId, assert };
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}
