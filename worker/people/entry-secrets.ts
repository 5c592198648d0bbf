/** The secrets of invitations and logins. */
import { base64url } from 'jose';

/** A new secret of 256 bits. Its beginning says what it is for, also to scanners of source code. */
export function newEntrySecret(what: 'invitation' | 'login'): string {
  const prefix = what === 'invitation' ? 'dbi_' : 'dbl_';
  return prefix + base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** The id of an invitation in the lists, from the hash of its secret. */
export function invitationIdOf(hash: string): string {
  return `inv_${hash.slice(0, ID_CHARS)}`;
}

/** 96 bits: no two invitations have the same. */
const ID_CHARS = 16;

/** What is stored of it. The secret has 256 bits, so that its plain hash says nothing of it. */
export async function entryHash(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
