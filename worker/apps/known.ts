/** The keys of apps as this isolate knows them. Asking the directory for each request would double its time. */
import type { Env } from '../env.ts';
import { directoryOf } from '../objects.ts';
import type { StoredKey } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import { APP_LIMITS } from './limits.ts';

let known: { readonly atMs: number; readonly keys: readonly StoredKey[] } | undefined;

/** All keys, as of at most APP_LIMITS.knownMs ago. */
export async function knownKeys(env: Env): Promise<readonly StoredKey[]> {
  const nowMs = Date.now();
  if (known && Math.abs(nowMs - known.atMs) < APP_LIMITS.knownMs) return known.keys;
  const keys = await reach<StoredKey[]>(() => directoryOf(env).keys());
  known = { atMs: nowMs, keys };
  return keys;
}

/** The key, or undefined if there is none with this id. */
export async function findKey(env: Env, id: string): Promise<StoredKey | undefined> {
  return (await knownKeys(env)).find((key) => key.id === id);
}

/** Has the next request read the keys again: this isolate has changed one. */
export function forgetKeys(): void {
  known = undefined;
}

/** The key whose tokens have this `iss`: its id, or its identity provider. Of two with one provider the first counts. */
export async function findIssuer(env: Env, issuer: string): Promise<StoredKey | undefined> {
  return (await knownKeys(env)).find(
    ({ id, terms }) => id === issuer || terms.provider?.issuer === issuer,
  );
}
