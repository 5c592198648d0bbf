/** What our tokens say of themselves (RFC 7519), for the end that mints them and the end that checks them. */

export const TOKEN_ISSUER = 'drawbridge';
export const TOKEN_AUDIENCE = 'drawbridge';

/** Bytes of the secret that signs tokens, at least: as many as HS256's hash has (RFC 7518, section 3.2). */
export const MIN_SECRET_BYTES = 32;
/** More than any tool makes: a longer text is some other file. */
const MAX_SECRET_BYTES = 1024;

/** The bytes of a secret, or what is wrong with its text, as the end of a sentence about it. */
export type DecodedSecret =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a secret in hex, base64 or base64url, with or without padding and line ends. Hex digits alone are
 * always hex: base64 of so many bytes at random has other characters too.
 */
export function decodeSecret(text: string): DecodedSecret {
  const written = text.replace(/\s+/g, '');
  if (written === '') return { ok: false, problem: 'is missing' };
  const bytes = isHex(written) ? fromHex(written) : fromBase64(written);
  if (!bytes) return { ok: false, problem: 'is neither hex nor base64' };
  const { length } = bytes;
  if (length < MIN_SECRET_BYTES) {
    return { ok: false, problem: `has ${length} bytes, fewer than ${MIN_SECRET_BYTES}` };
  }
  if (length <= MAX_SECRET_BYTES) return { ok: true, bytes };
  return { ok: false, problem: `has ${length} bytes, more than ${MAX_SECRET_BYTES}` };
}

function isHex(text: string): boolean {
  return /^(?:[\da-f]{2})+$/i.test(text);
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Of every runtime that this folder runs in. */
declare function atob(base64: string): string;

/** Null for what is not base64, in either of its alphabets. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return null;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, ''));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null; // Of a length that base64 never has.
  }
}
