/** Checks the tokens of identity providers by their public keys. */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import type { KeyProvider } from '../../shared/api/keys.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { expiryOf, unauthenticated, verifyJwt } from '../secret.ts';
import { APP_LIMITS } from './limits.ts';

/** Only of key pairs: with a shared secret, everybody who can check a token could make one (RFC 8725, section 3.1). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** By address. jose keeps the keys for ten minutes, and asks again, at most twice a minute, for one that it lacks. */
const keySets = new Map<string, JWTVerifyGetKey>();

/** @throws {DrawbridgeError} UNAUTHENTICATED, and UNAVAILABLE where the provider does not send its keys. */
export async function signedByProvider(
  { issuer, jwksUrl, audience }: KeyProvider,
  token: string,
): Promise<JWTPayload> {
  try {
    const expected = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: ['exp'] };
    return await verifyJwt(token, keySetAt(jwksUrl), expected);
  } catch (error) {
    if (isRefusal(error)) {
      const flaw = error instanceof errors.JWTClaimValidationFailed ? `: ${error.message}` : '';
      throw unauthenticated(expiryOf('token', error) ?? `The token is not valid${flaw}`, error);
    }
    throw new DrawbridgeError(
      'UNAVAILABLE',
      'The identity provider of this app does not send its keys',
      { cause: error, details: { retryAfterSeconds: APP_LIMITS.providerMs / 1000 } },
    );
  }
}

/** Whether the token is to blame, and not the provider. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    !(error instanceof errors.JWKSInvalid) &&
    error.code !== 'ERR_JOSE_GENERIC'
  );
}

function keySetAt(url: string): JWTVerifyGetKey {
  const known = keySets.get(url);
  if (known) return known;
  const [oldest] = keySets.keys();
  if (oldest !== undefined && keySets.size >= APP_LIMITS.maxProviders) keySets.delete(oldest);
  const made = createRemoteJWKSet(new URL(url), { timeoutDuration: APP_LIMITS.providerMs });
  keySets.set(url, made);
  return made;
}
