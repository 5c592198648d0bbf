/** Makes and verifies tickets. A ticket opens one stream, once, for a reader that cannot send a header. */
import { SignJWT } from 'jose';
import * as z from 'zod';
import type { Ticket } from '../../shared/api/conversations.ts';
import { SessionId } from '../../shared/ids.ts';
import { TOKEN_ISSUER } from '../../shared/wire/tokens.ts';
import { expiryOf, secretKeys, unauthenticated, verifySigned } from '../secret.ts';
import { TICKET_LIMITS } from './limits.ts';

/** Differs from the audience of tokens, so that a ticket is not accepted as a token, nor a token as a ticket. */
const TICKET_AUDIENCE = 'drawbridge-stream';

const Claims = z.object({
  sub: z.string().min(1),
  jti: z.uuid(),
  exp: z.int(),
  /** The one path that the ticket opens. */
  path: z.string(),
  /** The end of the token that asked for the ticket, in seconds as `exp`: the stream ends with it. */
  until: z.int(),
  /** The session of that token. */
  sid: SessionId.optional(),
});

/** A verified ticket. Whether it was used before is not checked yet. */
export interface OpenTicket {
  readonly id: string;
  readonly account: string;
  readonly expiresMs: number;
  /** Until when the stream may last. */
  readonly untilMs: number;
  /** The session of the token that it was made for. */
  readonly session?: string | undefined;
}

interface WantedTicket extends Pick<OpenTicket, 'account' | 'untilMs' | 'session'> {
  readonly path: string;
  readonly nowMs: number;
}

/** Throws NOT_CONFIGURED if the secret is missing or bad. */
export async function mintTicket(
  secret: string | undefined,
  { account, path, nowMs, untilMs, session }: WantedTicket,
): Promise<Ticket> {
  const expires = new Date(nowMs + TICKET_LIMITS.lifeMs);
  const [key] = await secretKeys(secret);
  const ticket = await new SignJWT({ path, until: untilMs / 1000, sid: session })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TICKET_AUDIENCE)
    .setSubject(account)
    .setJti(crypto.randomUUID())
    .setExpirationTime(expires)
    .sign(key);
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
  const { jti: id, sub: account, exp, until, sid: session } = claims;
  return { id, account, session, expiresMs: exp * 1000, untilMs: until * 1000 };
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
