/** The tokens of the sessions of this machine at Drawbridges elsewhere. */
import { ClientError, createClient, sessionTokens } from '../../client/index.ts';
import { findLogin, forgetLogin, type KeptLogin } from '../../local/state/logins.ts';
import { LocalError } from '../../machine/local-error.ts';
import { DEVICE_ALGORITHM } from '../../shared/wire/approval-text.ts';
import type { ProofSigner } from '../../shared/wire/proof.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { type LocationOptions, stateDirOf } from './location-options.ts';

/** Gives a token, and after a refusal another one. Of a client and of a bridge. */
export type SessionTokens = (refused?: string) => Promise<string>;

/** How this machine talks to a Drawbridge elsewhere by its session there. */
export interface SignedIn {
  readonly token: SessionTokens;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends the headers with each request. */
  readonly fetch: typeof fetch;
}

/** What a person does about it that this machine has no session there. */
export function notSignedIn(url: string): string {
  return `This machine is not signed in at ${url}: \`${ownCommand('login', url)}\` signs it in.`;
}

/** The session at this server; undefined if this machine is not signed in there. */
export async function findSignedIn(
  url: string,
  options: LocationOptions,
  bridgeId?: string,
): Promise<SignedIn | undefined> {
  const dir = await stateDirOf(options);
  const login = await findLogin(dir, url);
  return login && (await signedInBy(dir, login, bridgeId));
}

/** A session, for bridge `bridgeId` if given. An ended one is forgotten with its key. */
export async function signedInBy(
  dir: string,
  { url, account, session, headers = {}, privateKey: { d, ...publicKey } }: KeptLogin,
  bridgeId?: string,
): Promise<SignedIn> {
  const jwk = { ...publicKey, d };
  const privateKey = await crypto.subtle.importKey('jwk', jwk, DEVICE_ALGORITHM, false, ['sign']);
  const kept = { account, session, signer: { privateKey, publicKey } };
  const fetch = fetchWith(headers);
  const tokens = sessionTokens({ url, fetch }, kept, bridgeId);
  const token: SessionTokens = async (refused) => {
    try {
      return await tokens(refused, undefined);
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'SESSION_ENDED')) throw error;
      await forgetLogin(dir, session);
      const again = ownCommand('login', url);
      const text = `The session of this machine at ${url} was ended: \`${again}\` signs in again.`;
      throw new LocalError('refused', text, { cause: error });
    }
  };
  return { token, headers, fetch };
}

/**
 * Has this machine's session at the server let the bridge move here. Does nothing without a session, and where the
 * server refuses: the server answers the bridge itself then, which moves with the key that it had.
 */
export async function allowMove(
  url: string,
  options: LocationOptions,
  bridgeId: string,
  { publicKey }: Pick<ProofSigner, 'publicKey'>,
): Promise<void> {
  const session = await findSignedIn(url, options);
  if (!session) return;
  const client = createClient({ url, ...session });
  await client.allowMove(bridgeId, publicKey).catch(() => undefined);
}

/** Sends these headers with each request, and follows no redirect with them: it could lead to anybody. */
export function fetchWith(headers: Readonly<Record<string, string>>): typeof fetch {
  if (Object.keys(headers).length === 0) return fetch;
  return async (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return await fetch(input, { ...init, headers: all, redirect: 'error' });
  };
}
