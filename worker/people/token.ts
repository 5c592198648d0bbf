/** Mints the tokens of sessions. */
import { SignJWT } from 'jose';
import type { SessionToken } from '../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { TOKEN_AUDIENCE, TOKEN_ISSUER } from '../../shared/wire/tokens.ts';
import type { SecretKeys } from '../secret.ts';

/** With `bridge` the token runs that bridge and does nothing else. */
export async function mintSessionToken(
  [key]: SecretKeys,
  { account, session, bridge }: { account: string; session: string; bridge?: string | undefined },
): Promise<SessionToken> {
  const now = new Date();
  const expires = new Date(now.getTime() + SESSION_LIMITS.tokenMs);
  const scope = bridge === undefined ? { scope: 'user' } : { scope: 'bridge', bridge };
  const token = await new SignJWT({ ...scope, sid: session })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TOKEN_AUDIENCE)
    .setSubject(account)
    .setIssuedAt(now)
    .setExpirationTime(expires)
    .sign(key);
  return { token, expires: expires.toISOString() };
}
