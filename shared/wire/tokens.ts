/** The claims and the secret of Drawbridge's tokens (RFC 7519), for both sides: making and checking tokens. */
import { decodeBase64Url } from '../text/base64url.ts';

export const TOKEN_ISSUER = 'drawbridge';
export const TOKEN_AUDIENCE = 'drawbridge';
/** `aud` of the proofs by which a session shows that it has its key (shared/api/sessions.ts). */
export const PROOF_AUDIENCE = 'drawbridge-session';
/** `sub` of the proof of `POST logins`. */
export const LOGIN_PROOF = 'login';

/** How every account of a user of an app begins. No person has such an account. */
const APP_ACCOUNT = 'app:';

/** The account of an app's user: `app:shop:42`. */
export function appAccount(key: string, user: string): string {
  return `${APP_ACCOUNT}${key}:${user}`;
}

/** The app's key of {@link appAccount}, undefined for a person's account. */
export function keyOfAccount(account: string): string | undefined {
  return account.startsWith(APP_ACCOUNT) ? account.split(':', 2)[1] : undefined;
}

/** The fewest bytes of the secret that signs tokens: as many as HS256's hash has (RFC 7518, section 3.2). */
export const MIN_SECRET_BYTES = 32;
/** More bytes than any tool makes for a secret: a longer text is another file. */
const MAX_SECRET_BYTES = 1024;

/** The days that a token may be valid, whatever signs it: a lost token ends at last. */
export const MAX_TOKEN_DAYS = 366;

/** As many secrets as AUTH_SECRET may hold: the one that signs, and the one before it. */
const MAX_SECRETS = 2;

/** The bytes of a secret, or what is wrong with its text. `problem` ends a sentence that begins with the secret. */
export type DecodedSecret =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };

/** The bytes of each secret, the one that signs first, or what is wrong with the text. */
export type DecodedSecrets =
  | { readonly ok: true; readonly secrets: readonly [Bytes, ...Bytes[]] }
  | Extract<DecodedSecret, { ok: false }>;

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads AUTH_SECRET: one secret as {@link decodeSecret} reads it, or two with a comma between them. */
export function decodeSecrets(text: string): DecodedSecrets {
  const [first, ...others] = text.split(',').map(decodeSecret);
  if (others.length >= MAX_SECRETS) {
    return { ok: false, problem: `holds ${others.length + 1} secrets, more than ${MAX_SECRETS}` };
  }
  if (!first?.ok) return { ok: false, problem: first?.problem ?? 'is missing' };
  const secrets: [Bytes, ...Bytes[]] = [first.bytes];
  for (const other of others) {
    if (!other.ok) return { ok: false, problem: `holds a second secret that ${other.problem}` };
    secrets.push(other.bytes);
  }
  return { ok: true, secrets };
}

/** Reads a secret in hex, base64 or base64url. Hex digits alone always mean hex. */
function decodeSecret(text: string): DecodedSecret {
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

/** Null for text that is not base64 in either alphabet. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return null;
  try {
    return decodeBase64Url(text);
  } catch {
    return null; // Base64 never has this length.
  }
}
