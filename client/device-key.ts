/** A device's public key as a person carries it from the device to the machine of a bridge, and its fingerprint. */

import { parseJson } from '../shared/text/json.ts';
import type { DeviceKey } from '../shared/wire/approvals.ts';

const PREFIX = 'dbdevice1';

/** One word without spaces: the id, the point's coordinates, and the label percent-encoded. Nothing in it is secret. */
export function formatDeviceKey({ deviceId, label, publicKey }: DeviceKey): string {
  return [PREFIX, deviceId, publicKey.x, publicKey.y, encodeURIComponent(label)].join('.');
}

/**
 * Reads the text of {@link formatDeviceKey}, or the key as JSON. The machine checks it with its schema before it trusts
 * it. Undefined for anything else.
 */
export function readDeviceKey(text: string): unknown {
  const written = text.trim();
  try {
    return written.startsWith('{') ? parseJson(written) : fromWord(written);
  } catch {
    return undefined; // It is cut, or its label is not encoded.
  }
}

function fromWord(word: string): unknown {
  const [prefix, deviceId, x, y, ...label] = word.split('.');
  if (prefix !== PREFIX) return undefined;
  const publicKey = { kty: 'EC', crv: 'P-256', x, y };
  return { deviceId, label: decodeURIComponent(label.join('.')), publicKey };
}

/** Bytes of a key's hash in its fingerprint: another key with the same one takes 2^80 attempts to find. */
const FINGERPRINT_BYTES = 10;
/** Crockford's base 32: no letter looks like a digit. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * What two people compare, as `7K2M-9QRD-0VXA-4TEH`: the beginning of the key's JWK thumbprint (RFC 7638, SHA-256).
 * The coordinates must be in the form that WebCrypto exports.
 */
export async function fingerprintOf({ publicKey }: Pick<DeviceKey, 'publicKey'>): Promise<string> {
  const { crv, kty, x, y } = publicKey;
  const bytes = new TextEncoder().encode(JSON.stringify({ crv, kty, x, y }));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  let bits = 0n;
  for (const byte of hash.subarray(0, FINGERPRINT_BYTES)) bits = (bits << 8n) | BigInt(byte);
  const letters = Array.from({ length: (FINGERPRINT_BYTES * 8) / 5 }, (_, place) => {
    return LETTERS[Number((bits >> BigInt(5 * place)) & 31n)];
  });
  return letters
    .reverse()
    .join('')
    .replace(/(.{4})(?=.)/g, '$1-');
}
