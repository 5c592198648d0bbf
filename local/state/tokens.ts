/** Makes and checks the bearer tokens of a local instance: JWTs signed with its own secret. */
import { decodeJwt, jwtVerify, SignJWT } from 'jose';
import { LocalError } from '../../machine/local-error.ts';
import { SECOND } from '../../shared/units.ts';
import { decodeSecrets, TOKEN_AUDIENCE, TOKEN_ISSUER } from '../../shared/wire/tokens.ts';
import { LOCAL_LIMITS } from '../limits.ts';

/** What a token allows: everything that its account may do, only running one bridge, or keeping the keys of apps. */
export type TokenGrant =
  /** With `bridgeId` for one folder: a message that names no bridge goes to that one. */
  | { readonly scope: 'user'; readonly bridgeId?: string | undefined }
  | { readonly scope: 'bridge'; readonly bridgeId: string }
  | { readonly scope: 'operator'; readonly bridgeId?: undefined };

/** The one account of a local instance. */
const LOCAL_ACCOUNT = 'local';

const ALGORITHM = 'HS256';

/** What differs for a token that is not for the local instance. */
interface TokenOptions {
  readonly account?: string;
  readonly lifeMs?: number | undefined;
}

/** A new token. `authSecret` has the form of the Worker's AUTH_SECRET. */
export async function mintToken(
  authSecret: string,
  grant: TokenGrant,
  now: Date,
  { account = LOCAL_ACCOUNT, lifeMs = usualLifeMs(grant) }: TokenOptions = {},
): Promise<string> {
  const claims = {
    scope: grant.scope,
    ...(grant.bridgeId !== undefined && { bridge: grant.bridgeId }),
  };
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TOKEN_AUDIENCE)
    .setSubject(account)
    .setIssuedAt(now)
    .setExpirationTime(new Date(now.getTime() + lifeMs))
    .sign(keyOf(authSecret));
}

/** A token for a bridge that this server starts itself, and its end: the server refuses it from then on. */
export async function mintBridgeToken(
  authSecret: string,
  bridgeId: string,
): Promise<{ token: string; expiresMs: number }> {
  const { ownBridgeTokenMs: lifeMs } = LOCAL_LIMITS;
  const now = new Date();
  const token = await mintToken(authSecret, { scope: 'bridge', bridgeId }, now, { lifeMs });
  return { token, expiresMs: (decodeJwt(token).exp ?? 0) * SECOND };
}

/** The end of a token as a sentence shows it, if it ends soon or is over; else undefined. Any text may be given. */
export function nearEndOf(token: string, now: Date): string | undefined {
  try {
    const end = new Date((decodeJwt(token).exp ?? Number.POSITIVE_INFINITY) * SECOND);
    const isNear = end.getTime() - now.getTime() < LOCAL_LIMITS.tokenWarnMs;
    return isNear ? end.toISOString().replace('.000', '') : undefined;
  } catch {
    return undefined; // The server says what is wrong with it.
  }
}

function usualLifeMs({ scope }: TokenGrant): number {
  switch (scope) {
    case 'user':
      return LOCAL_LIMITS.userTokenMs;
    case 'bridge':
      return LOCAL_LIMITS.bridgeTokenMs;
    case 'operator':
      return LOCAL_LIMITS.operatorTokenMs;
    default:
      return scope satisfies never;
  }
}

/** Whether this secret signed the token and the token stays valid for another `renewTokenMs`. */
export async function isTokenFresh(authSecret: string, token: string, now: Date): Promise<boolean> {
  try {
    await jwtVerify(token, keyOf(authSecret), {
      algorithms: [ALGORITHM],
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
      currentDate: new Date(now.getTime() + LOCAL_LIMITS.renewTokenMs),
    });
    return true;
  } catch {
    // Expired, signed with another secret, or damaged: the caller makes a new token in each case.
    return false;
  }
}

/** The secret that signs. What the one before it has signed is not fresh, and made again. */
function keyOf(authSecret: string): Uint8Array {
  const decoded = decodeSecrets(authSecret);
  if (decoded.ok) return decoded.secrets[0];
  throw new LocalError('failed', `The secret ${decoded.problem}.`);
}
