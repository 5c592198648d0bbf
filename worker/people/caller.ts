/** Authenticates the caller by a token or a ticket. */
import type { HonoRequest } from 'hono';
import { createMiddleware } from 'hono/factory';
import { jwtVerify } from 'jose';
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { BridgeId } from '../../shared/ids.ts';
import { TOKEN_AUDIENCE, TOKEN_ISSUER } from '../../shared/tokens.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import { expiryOf, secretKey, unauthenticated } from './secret.ts';
import { verifyTicket } from './tickets.ts';
import { VerifiedTokens } from './verified-tokens.ts';

const Claims = z.discriminatedUnion('scope', [
  z.object({ sub: z.string().min(1), scope: z.literal('user') }),
  z.object({ sub: z.string().min(1), scope: z.literal('bridge'), bridge: BridgeId }),
]);
type Claims = z.infer<typeof Claims>;

const verified = new VerifiedTokens<Claims>();

/**
 * The app's context. worker/api/observe.ts sets `trace` and `operation` for every route, {@link authenticate} sets
 * `caller` for every route after it.
 */
export interface AppContext {
  Bindings: Env;
  Variables: { caller: Claims; trace: string; operation: string };
}

/** Refuses requests without a token of this scope. For the scope `user`, a ticket can replace the token. */
export function authenticate(scope: Claims['scope']) {
  return createMiddleware<AppContext>(async (c, next) => {
    const ticket = scope === 'user' ? ticketOf(c.req) : undefined;
    const claims =
      ticket === undefined
        ? await verify(tokenIn(c.req), c.env.AUTH_SECRET)
        : await redeem(c.env, ticket, c.req.path);
    if (claims.scope !== scope) {
      throw new DrawbridgeError(
        'FORBIDDEN',
        `This needs a token with the scope ${scope}, not ${claims.scope}`,
      );
    }
    c.set('caller', claims);
    await next();
  });
}

/** The token that a request brings; in the shapes of others also as the user name of Basic authentication. */
function tokenIn(request: HonoRequest): string | undefined {
  const [, scheme, given] = AUTHORIZATION.exec(request.header('authorization') ?? '') ?? [];
  if (given === undefined || scheme?.toLowerCase() === 'bearer') return given;
  // A browser repeats what it knows for Basic authentication for every page that asks. To plain HTTP on another machine
  // it sends no `Sec-Fetch-Site`, and for what changes something an `Origin` all the same.
  const isPage = (request.header('sec-fetch-site') ?? request.header('origin')) !== undefined;
  return isPage || !request.path.startsWith('/v1/') ? undefined : userNameIn(given);
}

/** RFC 6750, section 2.1, and RFC 7617, section 2. */
const AUTHORIZATION = /^(Bearer|Basic) +(\S+)$/i;

function userNameIn(credentials: string): string | undefined {
  try {
    return atob(credentials).split(':', 1)[0];
  } catch {
    return undefined; // It is not base64.
  }
}

/** The ticket of a GET request without a token. Tickets exist only for `events` paths. */
function ticketOf(request: HonoRequest): string | undefined {
  if (request.method !== 'GET' || request.header('authorization') !== undefined) return undefined;
  return request.query('ticket');
}

/** Uses the ticket up, so that a second use fails, for example by a reader of a log. */
async function redeem(env: Env, ticket: string, path: string): Promise<Claims> {
  const { id, account, expiresMs } = await verifyTicket(env.AUTH_SECRET, ticket, path);
  if (await accountOf(env, account).redeem(id, expiresMs)) return { sub: account, scope: 'user' };
  throw unauthenticated('The ticket was used already: get a new one for each stream');
}

/** Accepts only HS256: `alg` is fixed here, never taken from the token (RFC 8725, section 3.1). */
async function verify(token: string | undefined, secret: string | undefined): Promise<Claims> {
  if (!token) throw unauthenticated('Send a token: Authorization: Bearer TOKEN');
  const key = await secretKey(secret);
  const known = verified.find(token, key, Date.now());
  if (known) return known;
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
      requiredClaims: ['exp', 'sub'],
    });
    const claims = Claims.parse(payload);
    verified.remember(token, key, claims, payload.exp ?? 0);
    return claims;
  } catch (error) {
    throw unauthenticated(expiryOf('token', error) ?? 'The token is not valid', error);
  }
}
