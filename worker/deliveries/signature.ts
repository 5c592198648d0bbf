/** Secrets and signatures as the Standard Webhooks specification has them (standardwebhooks.com, symmetric, v1). */

const PREFIX = 'whsec_';

/** Bytes of a secret: as many as the hash has. The specification allows 24 to 64. */
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `${PREFIX}${toBase64(bytes)}`;
}

/** What is signed: a message. */
export interface SignedMessage {
  readonly id: string;
  readonly seconds: number;
  readonly body: string;
}

/** The headers of a message. */
export async function signedHeaders(
  secret: string,
  { id, seconds, body }: SignedMessage,
): Promise<Record<string, string>> {
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const text = new TextEncoder().encode(`${id}.${seconds}.${body}`);
  const signature = toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, text)));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
