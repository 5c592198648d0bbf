/** The secrets of app keys. They are derived, so that nothing that is stored could sign a token. */

import { base64url } from 'jose';
import type { StoredKey } from '../ports/directory.ts';
import type { SecretKeys } from '../secret.ts';

/** How every secret begins, so that scanners of source code find it. The id of its key follows. */
const PREFIX = 'dbk_';

type Salted = Pick<StoredKey, 'id' | 'salt'>;

/** The secret as the app has it, from the first secret of AUTH_SECRET. */
export async function secretOf([master]: SecretKeys, key: Salted): Promise<string> {
  return await derive(master, key);
}

/** What may sign this key's tokens: a key for each secret of AUTH_SECRET. */
export async function signersOf(masters: SecretKeys, key: Salted): Promise<CryptoKey[]> {
  return await Promise.all(masters.map(async (master) => await toKey(await derive(master, key))));
}

/** Whether the text is a secret of the key. Takes as long for every wrong one. */
export async function isSecretOf(masters: SecretKeys, key: Salted, text: string): Promise<boolean> {
  const probe = new TextEncoder().encode(key.salt);
  const signature = await crypto.subtle.sign('HMAC', await toKey(text), probe);
  const signers = await signersOf(masters, key);
  const checks = signers.map((signer) => crypto.subtle.verify('HMAC', signer, signature, probe));
  return (await Promise.all(checks)).includes(true);
}

/** The id of the key that a text claims to be a secret of; undefined for other texts. */
export function keyNamedIn(text: string): string | undefined {
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length).split('_', 1)[0] : undefined;
}

async function derive(master: CryptoKey, { id, salt }: Salted): Promise<string> {
  const named = new TextEncoder().encode(`app key\n${id}\n${salt}`);
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', master, named));
  return `${PREFIX}${id}_${base64url.encode(bytes)}`;
}

/** Imports a secret as the libraries for JWT take a text: by its bytes in UTF-8. */
async function toKey(text: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(text);
  return await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}
