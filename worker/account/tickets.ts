/** Makes and verifies tickets. A ticket opens one stream for one reader, which cannot send a token. */
import { errors, SignJWT } from 'jose';
import * as z from 'zod';
import type { Ticket } from '../../shared/api/conversations.ts';
import { SessionId } from '../../shared/ids.ts';
import { SECOND } from '../../shared/units.ts';
import { TOKEN_ISSUER } from '../../shared/wire/tokens.ts';
import type { StoredTicket } from '../ports/account.ts';
import { expiryOf, secretKeys, unauthenticated, verifySigned } from '../secret.ts';
import { TICKET_LIMITS } from './limits.ts';

/** Differs from the audience of tokens, so that a ticket is not accepted as a token, nor a token as a ticket. */
const TICKET_AUDIENCE = 'drawbridge-stream';

const Claims = z.object({
  sub: z.string().min(1),
  jti: z.uuid(),
  /** The end of all its uses. */
  exp: z.int(),
  /** Until when it may be used first, in seconds as `exp`. */
  first: z.int(),
  /** The one path that the ticket opens. */
  path: z.string(),
  /** The end of the token that asked for the ticket, in seconds as `exp`: the stream ends with it. */
  until: z.int(),
  /** The session of that token. */
  sid: SessionId.optional(),
  /** The salt of the app's key where that token was an app's: another secret of the key ends the ticket as well. */
  salt: z.string().optional(),
});

/** A verified ticket. Whether it was used before is not checked yet. */
export interface OpenTicket extends StoredTicket {
  readonly account: string;
  /** Until when the stream may last. */
  readonly untilMs: number;
  /** The session of the token that it was made for. */
  readonly session?: string | undefined;
  readonly salt?: string | undefined;
}

interface WantedTicket extends Omit<OpenTicket, keyof StoredTicket> {
  readonly path: string;
  readonly nowMs: number;
}

/** Throws NOT_CONFIGURED if the secret is missing or bad. */
export async function mintTicket(
  secret: string | undefined,
  { account, path, nowMs, untilMs, session, salt }: WantedTicket,
): Promise<Ticket> {
  const expires = new Date(nowMs + TICKET_LIMITS.lifeMs);
  const first = Math.floor(expires.getTime() / SECOND);
  const [key] = await secretKeys(secret);
  const ticket = await new SignJWT({ path, first, until: untilMs / SECOND, sid: session, salt })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TICKET_AUDIENCE)
    .setSubject(account)
    .setJti(crypto.randomUUID())
    .setExpirationTime(new Date(Math.min(nowMs + TICKET_LIMITS.returnMs, untilMs)))
    .sign(key);
  return { ticket, expires: expires.toISOString() };
}

/**
 * Throws UNAUTHENTICATED if the ticket is not valid, has expired, or opens another path. `isReturn`: its reader comes back.
 */
export async function verifyTicket(
  secret: string | undefined,
  ticket: string,
  { path, isReturn }: { readonly path: string; readonly isReturn: boolean },
): Promise<OpenTicket> {
  const claims = await readClaims(secret, ticket);
  if (claims.path !== path) throw unauthenticated('This ticket opens another stream');
  const { jti: id, sub: account, exp, first, until, sid: session, salt } = claims;
  const end = isReturn ? exp : first;
  if (end * SECOND <= Date.now()) {
    const error = new errors.JWTExpired('not used in time', { exp: end });
    throw unauthenticated(expiryOf('ticket', error) ?? '', error);
  }
  const [firstMs, expiresMs, untilMs] = [first * SECOND, exp * SECOND, until * SECOND];
  return { id, account, session, salt, firstMs, expiresMs, untilMs };
}

async function readClaims(
  secret: string | undefined,
  ticket: string,
): Promise<z.infer<typeof Claims>> {
  const keys = await secretKeys(secret);
  try {
    return Claims.parse(await verifySigned(keys, ticket, { audience: TICKET_AUDIENCE }));
  } catch (error) {
    throw unauthenticated(expiryOf('ticket', error) ?? 'The ticket is not valid', error);
  }
}
