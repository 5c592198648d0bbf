/** Makes and verifies tickets. A ticket opens one stream, once, for a reader that cannot send a header. */
import { jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';
import type { Ticket } from '../../shared/conversations.ts';
import { TOKEN_ISSUER } from '../../shared/tokens.ts';
import { TICKET_LIMITS } from './limits.ts';
import { expiryOf, secretKey, unauthenticated } from './secret.ts';

/** Differs from the audience of tokens, so that a ticket is not accepted as a token, nor a token as a ticket. */
const TICKET_AUDIENCE = 'drawbridge-stream';

const Claims = z.object({
  sub: z.string().min(1),
  jti: z.uuid(),
  exp: z.int(),
  /** The one path that the ticket opens. */
  path: z.string(),
});

/** A verified ticket. Whether it was used before is not checked yet. */
export interface OpenTicket {
  readonly id: string;
  readonly account: string;
  readonly expiresMs: number;
}

/** Throws NOT_CONFIGURED if the secret is missing or bad. */
export async function mintTicket(
  secret: string | undefined,
  { account, path, nowMs }: { account: string; path: string; nowMs: number },
): Promise<Ticket> {
  const expires = new Date(nowMs + TICKET_LIMITS.lifeMs);
  const ticket = await new SignJWT({ path })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TICKET_AUDIENCE)
    .setSubject(account)
    .setJti(crypto.randomUUID())
    .setExpirationTime(expires)
    .sign(await secretKey(secret));
  return { ticket, expires: expires.toISOString() };
}

/** Throws UNAUTHENTICATED if the ticket is not valid, has expired, or opens another path. */
export async function verifyTicket(
  secret: string | undefined,
  ticket: string,
  path: string,
): Promise<OpenTicket> {
  const claims = await readClaims(secret, ticket);
  if (claims.path !== path) throw unauthenticated('This ticket opens another stream');
  return { id: claims.jti, account: claims.sub, expiresMs: claims.exp * 1000 };
}

async function readClaims(
  secret: string | undefined,
  ticket: string,
): Promise<z.infer<typeof Claims>> {
  const key = await secretKey(secret);
  try {
    const { payload } = await jwtVerify(ticket, key, {
      algorithms: ['HS256'],
      issuer: TOKEN_ISSUER,
      audience: TICKET_AUDIENCE,
      requiredClaims: ['exp', 'sub', 'jti'],
    });
    return Claims.parse(payload);
  } catch (error) {
    throw unauthenticated(expiryOf('ticket', error) ?? 'The ticket is not valid', error);
  }
}
