/** Imports the secret that signs tokens and tickets, and makes the UNAUTHENTICATED error. */
import { errors } from 'jose';
import { DrawbridgeError } from '../../shared/errors.ts';
import { decodeSecret } from '../../shared/tokens.ts';

/** The last imported secret. Importing it for each request would cost more than checking a token. */
let imported: { readonly secret: string; readonly key: CryptoKey } | undefined;

/** AUTH_SECRET as a key. Throws NOT_CONFIGURED if it is missing or too weak. */
export async function secretKey(secret = ''): Promise<CryptoKey> {
  if (imported?.secret === secret) return imported.key;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = bytesOf(secret);
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
  imported = { secret, key };
  return key;
}

function bytesOf(secret: string): Uint8Array<ArrayBuffer> {
  const decoded = decodeSecret(secret);
  if (decoded.ok) return decoded.bytes;
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `AUTH_SECRET ${decoded.problem}: set it to what \`openssl rand -base64 32\` prints, with \`npx wrangler secret put AUTH_SECRET\``,
  );
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
