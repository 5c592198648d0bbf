/** The secret that signs tokens and tickets, and the refusal of whoever shows none that it signed. */
import { base64url } from 'jose';
import { DrawbridgeError } from '../../shared/errors.ts';

const MIN_SECRET_BYTES = 32;

/** The last one that was imported: importing it anew would cost more than checking a token. */
let imported: { readonly secret: string; readonly key: CryptoKey } | undefined;

/** AUTH_SECRET as a key. Throws NOT_CONFIGURED for one that is missing or too weak. */
export async function secretKey(secret = ''): Promise<CryptoKey> {
  if (imported?.secret === secret) return imported.key;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = decodeSecret(secret);
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
  imported = { secret, key };
  return key;
}

function decodeSecret(secret: string): Uint8Array {
  try {
    const bytes = base64url.decode(secret);
    if (bytes.length >= MIN_SECRET_BYTES) return bytes;
  } catch {
    // Not base64url: as good as none.
  }
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `AUTH_SECRET must be set to at least ${MIN_SECRET_BYTES} random bytes, base64url`,
  );
}

export function unauthenticated(message: string, cause?: unknown): DrawbridgeError {
  return new DrawbridgeError('UNAUTHENTICATED', message, { cause });
}
