/** People with keys, as the client's own code makes them. */
import { SELF } from 'cloudflare:test';
import { expect } from 'vitest';
import {
  createClient,
  enter,
  type KeptSession,
  newSessionKey,
  sessionTokens,
} from '../../../client/index.ts';
import type { SessionKind } from '../../../shared/api/sessions.ts';
import { tokenFor } from '../api.ts';

export const SERVER = {
  url: 'https://drawbridge.test',
  fetch: (async (input, init) => await SELF.fetch(input as string, init as object)) as typeof fetch,
};

/** An account that no other test has. */
export function newAccount(): string {
  return `ana-${crypto.randomUUID()}`;
}

/** A client with the account's token, as the operator makes one. */
export async function clientOf(account: string) {
  return createClient({ ...SERVER, token: await tokenFor({ account, claims: { scope: 'user' } }) });
}

/** A device that was invited into the account. */
export async function signIn(
  account: string,
  { name = 'laptop', kind = 'machine' }: { name?: string; kind?: SessionKind } = {},
): Promise<KeptSession> {
  const { secret } = await (await clientOf(account)).createInvitation();
  const signer = await newSessionKey();
  return { ...(await enter(SERVER, secret, { name, kind }, signer)), signer };
}

/** A client whose tokens are the session's. */
export function clientWith(kept: KeptSession) {
  return createClient({ ...SERVER, token: sessionTokens(SERVER, kept) });
}

/** Waits for the refusal with this code. */
export async function expectRefused(asked: unknown, code: string): Promise<void> {
  await expect(asked).rejects.toMatchObject({ code });
}
