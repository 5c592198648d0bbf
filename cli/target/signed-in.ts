/** The tokens of the sessions of this machine at Drawbridges elsewhere. */
import { resolve } from 'node:path';
import { ClientError, sessionTokens } from '../../client/index.ts';
import { sharedServerDir } from '../../local/state/folder.ts';
import { findLogin, forgetLogin, type KeptLogin } from '../../local/state/logins.ts';
import { LocalError } from '../../machine/local-error.ts';
import { DEVICE_ALGORITHM } from '../../shared/wire/approval-text.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { LocationOptions } from './location-options.ts';

/** Gives a token, and after a refusal another one. Of a client and of a bridge. */
export type SessionTokens = (refused?: string) => Promise<string>;

/** The folder of this machine's sessions. */
export async function loginsDir({ state }: LocationOptions): Promise<string> {
  return state === undefined ? await sharedServerDir() : resolve(state);
}

/** What a person does about it that this machine has no session there. */
export function notSignedIn(url: string): string {
  return `This machine is not signed in at ${url}: \`${ownCommand('login', url)}\` signs it in.`;
}

/** The tokens of the session at this server; undefined if this machine is not signed in there. */
export async function tokensFor(
  url: string,
  options: LocationOptions,
  bridgeId?: string,
): Promise<SessionTokens | undefined> {
  const dir = await loginsDir(options);
  const login = await findLogin(dir, url);
  return login && (await tokensOf(dir, login, bridgeId));
}

/**
 * The tokens of a session, or with `bridgeId` those that run this bridge. A session that was ended is forgotten with its
 * key, so that signing in again begins cleanly.
 */
export async function tokensOf(
  dir: string,
  { url, account, session, privateKey: { d, ...publicKey } }: KeptLogin,
  bridgeId?: string,
): Promise<SessionTokens> {
  const jwk = { ...publicKey, d };
  const privateKey = await crypto.subtle.importKey('jwk', jwk, DEVICE_ALGORITHM, false, ['sign']);
  const kept = { account, session, signer: { privateKey, publicKey } };
  const tokens = sessionTokens({ url }, kept, bridgeId);
  return async (refused) => {
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
}
