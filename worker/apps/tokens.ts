/** The tokens of an app's users: signed by the app's backend, by its identity provider, or by the Worker. */
import { errors, type JWTPayload, SignJWT } from 'jose';
import * as z from 'zod';
import {
  type AppToken,
  AppUser,
  type KeyProvider,
  type Right,
  Right as RightName,
} from '../../shared/api/keys.ts';
import { KEY_LIMITS } from '../../shared/limits.ts';
import { SECOND } from '../../shared/units.ts';
import { appAccount, TOKEN_AUDIENCE } from '../../shared/wire/tokens.ts';
import type { StoredKey } from '../ports/directory.ts';
import { expiryOf, type SecretKeys, unauthenticated, verifyJwt } from '../secret.ts';
import { APP_LIMITS } from './limits.ts';
import { signedByProvider } from './provider.ts';
import { signersOf } from './secrets.ts';

const Claims = z.object({ sub: AppUser, exp: z.number(), can: z.array(RightName).optional() });

/** A user of an app, by a token that was valid when this was made. */
export interface AppCaller {
  readonly account: string;
  readonly can: readonly Right[];
  readonly expiresMs: number;
}

/** Checks a token whose `iss` is the key's id. @throws UNAUTHENTICATED, with what the app's developer can use. */
export async function verifyAppToken(
  masters: SecretKeys,
  key: StoredKey,
  token: string,
): Promise<AppCaller> {
  const payload = await signedBy(await signersOf(masters, key), key, token);
  return callerOf(key, payload, KEY_LIMITS.maxTokenSeconds);
}

/** Checks a token whose `iss` is the key's identity provider. @throws UNAUTHENTICATED, or UNAVAILABLE without keys. */
export async function verifyProviderToken(
  key: StoredKey,
  provider: KeyProvider,
  token: string,
): Promise<AppCaller> {
  const { [provider.claim]: sub, can: _, ...payload } = await signedByProvider(provider, token);
  return callerOf(key, { ...payload, sub: sub as string }, APP_LIMITS.maxProviderSeconds);
}

function callerOf(key: StoredKey, payload: JWTPayload, maxSeconds: number): AppCaller {
  const claims = Claims.safeParse(payload);
  if (!claims.success) throw unauthenticated(`The token is not valid: ${flawIn(claims.error)}`);
  const { sub, exp, can: asked } = claims.data;
  if (exp > Date.now() / SECOND + maxSeconds + APP_LIMITS.clockSeconds) {
    throw unauthenticated(`The token of an app is valid for at most ${maxSeconds / 60} minutes`);
  }
  const { can } = key.terms;
  return {
    account: appAccount(key.id, sub),
    can: asked ? can.filter((right) => asked.includes(right)) : can,
    expiresMs: exp * SECOND,
  };
}

async function signedBy(
  [signer, ...others]: readonly CryptoKey[],
  key: StoredKey,
  token: string,
): Promise<JWTPayload> {
  if (!signer) throw unauthenticated('The token is not valid: its signature is of another secret');
  const expected = { algorithms: ['HS256'], issuer: key.id, audience: TOKEN_AUDIENCE };
  try {
    return await verifyJwt(token, signer, { ...expected, requiredClaims: ['exp', 'sub'] });
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      return await signedBy(others, key, token);
    }
    const flaw = error instanceof errors.JWTClaimValidationFailed ? `: ${error.message}` : '';
    throw unauthenticated(expiryOf('token', error) ?? `The token is not valid${flaw}`, error);
  }
}

function flawIn({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue ? `${issue.path.join('.')} ${issue.message}` : 'its claims';
}

interface WantedToken {
  readonly user: string;
  readonly can?: readonly Right[] | undefined;
  readonly seconds: number;
}

/** Makes the token that the app's backend could have signed itself. */
export async function mintAppToken(
  masters: SecretKeys,
  key: StoredKey,
  { user, can, seconds }: WantedToken,
): Promise<AppToken> {
  const [signer] = await signersOf(masters, key);
  if (!signer) throw new Error('a server without a secret');
  const issued = Math.floor(Date.now() / SECOND);
  const token = await new SignJWT({ ...(can && { can }) })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(key.id)
    .setAudience(TOKEN_AUDIENCE)
    .setSubject(user)
    .setIssuedAt(issued)
    .setExpirationTime(issued + seconds)
    .sign(signer);
  const expires = new Date((issued + seconds) * SECOND).toISOString();
  return { token, account: appAccount(key.id, user), expires };
}
