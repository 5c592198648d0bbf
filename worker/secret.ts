/** Imports the secrets of AUTH_SECRET, checks what they signed, and makes the UNAUTHENTICATED error. */
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { DrawbridgeError } from '../shared/errors.ts';
import { CLOCK_LIMITS } from '../shared/limits.ts';
import { decodeBase64Url } from '../shared/text/base64url.ts';
import { parseJson } from '../shared/text/json.ts';
import { SECOND } from '../shared/units.ts';
import { decodeSecrets, TOKEN_ISSUER } from '../shared/wire/tokens.ts';

/** The first key signs. Any of them verifies. */
export type SecretKeys = readonly [CryptoKey, ...CryptoKey[]];

/** The last imported secrets. Importing them for each request would cost more than checking a token. */
let imported: { readonly secret: string; readonly keys: SecretKeys } | undefined;

/** AUTH_SECRET as keys. Throws NOT_CONFIGURED if it is missing or too weak. */
export async function secretKeys(secret = ''): Promise<SecretKeys> {
  if (imported?.secret === secret) return imported.keys;
  const decoded = decodeSecrets(secret);
  if (!decoded.ok) {
    throw new DrawbridgeError(
      'NOT_CONFIGURED',
      `AUTH_SECRET ${decoded.problem}: set it to what \`openssl rand -base64 32\` prints, with \`npx wrangler secret put AUTH_SECRET\``,
    );
  }
  const [first, ...others] = decoded.secrets;
  const keys: SecretKeys = [await toKey(first), ...(await Promise.all(others.map(toKey)))];
  imported = { secret, keys };
  return keys;
}

async function toKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

/** The claims of a JWT that one of the keys has signed, with HS256 alone (RFC 8725, 3.1). Rejects like {@link verifyJwt}. */
export async function verifySigned(
  [key, ...others]: SecretKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  const all = { ...options, algorithms: ['HS256'], issuer: TOKEN_ISSUER };
  try {
    return await verifyJwt(token, key, all);
  } catch (error) {
    const [next, ...last] = others;
    if (!next || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    return await verifySigned([next, ...last], token, options);
  }
}

/**
 * `jwtVerify` for a clock of the signer that is ahead of ours: the token is then looked at as from its `nbf` on. The own
 * tolerance of `jwtVerify` would lengthen each life as well.
 */
export async function verifyJwt(
  token: string,
  key: Parameters<typeof jwtVerify>[1],
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, key, options)).payload;
  } catch (error) {
    const isEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf';
    const startMs = isEarly ? Math.ceil(Number(error.payload.nbf)) * SECOND : Number.NaN;
    if (!(startMs <= Date.now() + CLOCK_LIMITS.maxOffMs)) throw error;
    const early = { ...options, currentDate: new Date(startMs) };
    return (await jwtVerify(token, key, early)).payload;
  }
}

/** The header (0) or the claims (1) of a JWT, which nothing has verified yet. Undefined for what is no JWT. */
export function unverified(token: string, part: 0 | 1): unknown {
  try {
    const bytes = decodeBase64Url(token.split('.')[part] ?? '');
    return parseJson(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The 401 of every kind of token. `cause` stays in the Worker. */
export function unauthenticated(message: string, cause?: unknown): DrawbridgeError {
  return new DrawbridgeError('UNAUTHENTICATED', message, { cause });
}

/** The message for what has expired, with both times: one of two clocks may be wrong. Undefined for other errors. */
export function expiryOf(what: 'token' | 'ticket', error: unknown): string | undefined {
  if (!(error instanceof errors.JWTExpired)) return undefined;
  const [until, now] = [(error.payload.exp ?? 0) * 1000, Date.now()].map(toTime);
  return `The ${what} has expired: it was valid until ${until}, and the server's clock shows ${now}. Get a new one, or set the clock that is wrong`;
}

/** Nothing of ours was signed before 1970. */
function toTime(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString();
}
