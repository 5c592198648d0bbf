/** The secrets of invitations and logins. */
import { base64url } from 'jose';

/** A new secret of 256 bits. Its beginning says what it is for, also to scanners of source code. */
export function newEntrySecret(what: 'invitation' | 'login'): string {
  const prefix = what === 'invitation' ? 'dbi_' : 'dbl_';
  return prefix + base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** What is stored of it. The secret has 256 bits, so that its plain hash says nothing of it. */
export async function entryHash(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
