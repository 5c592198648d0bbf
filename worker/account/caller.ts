/** Authenticates the caller by a token or a ticket, and checks what the token may do. */
import type { Context, HonoRequest, MiddlewareHandler } from 'hono';
import * as z from 'zod';
import type { Right } from '../../shared/api/keys.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { BridgeId, SessionId } from '../../shared/ids.ts';
import { SECOND } from '../../shared/units.ts';
import {
  keyOfAccount,
  MAX_TOKEN_DAYS,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
} from '../../shared/wire/tokens.ts';
import { findIssuer, findKey } from '../apps/known.ts';
import { verifyAppToken, verifyProviderToken } from '../apps/tokens.ts';
import type { Env } from '../env.ts';
import type { WaitingImages } from '../images/waiting.ts';
import { accountOf } from '../objects.ts';
import type { StillAsked } from '../ports/account.ts';
import type { UsedTicket } from '../ports/conversation.ts';
import type { StoredKey } from '../ports/directory.ts';
import {
  expiryOf,
  type SecretKeys,
  secretKeys,
  unauthenticated,
  unverified,
  verifySigned,
} from '../secret.ts';
import { AUTH_LIMITS } from './limits.ts';
import { requireLiving } from './living-sessions.ts';
import { verifyTicket } from './tickets.ts';
import { VerifiedTokens } from './verified-tokens.ts';

/** The accounts of apps belong to the tokens of their keys. */
const Account = z
  .string()
  .min(1)
  .refine((account) => keyOfAccount(account) === undefined);

const NONE = z.never().optional();

/** `sid`: the session that the token is of. */
const Claims = z.discriminatedUnion('scope', [
  z.object({
    sub: Account,
    scope: z.literal('user'),
    bridge: BridgeId.optional(),
    sid: SessionId.optional(),
  }),
  z.object({
    sub: Account,
    scope: z.literal('bridge'),
    bridge: BridgeId,
    sid: SessionId.optional(),
  }),
  z.object({ sub: Account, scope: z.literal('operator'), bridge: NONE, sid: NONE }),
]);
/** `expiresMs`: until when the token is valid, or for a ticket the token that it was made for. */
type Claims = z.infer<typeof Claims> & {
  readonly expiresMs: number;
  /** Set for a user of an app: its key, and what the token may do. */
  readonly app?: { readonly key: StoredKey; readonly can: readonly Right[] };
  /** Set where a ticket replaced the token. */
  readonly ticket?: UsedTicket;
};

const verified = new VerifiedTokens<Claims>();

/**
 * The app's context. observe.ts sets `trace` and `operation`, {@link authenticate} sets `caller` for later routes, and
 * `account` before; an operator's routes set `account` to the one that they are about. app.ts sets `turn` for heavy
 * operations.
 */
export interface AppContext {
  Bindings: Env;
  Variables: {
    caller: Claims;
    account: string;
    trace: string;
    operation: string;
    turn?: Disposable;
    /** The large images of the request's message. They are given up when its handler ends. */
    images?: WaitingImages;
  };
}

/** The person that a request comes from, and until when the person's streams may last. */
export function personOf({ var: { caller, trace } }: Context<AppContext>) {
  const { sub: account, expiresMs, sid: session, ticket } = caller;
  return { account, trace, expiresMs, session, ...(ticket && { ticket }) };
}

/** For a read that ends with the request. */
export function stillAskedBy({ req }: Context<AppContext>): StillAsked {
  return () => !req.raw.signal.aborted;
}

/**
 * The sender of a message. `bridgeId`: of the folder that the token was made in. `terms`: of the sender's app. `images`:
 * where the large images of the message wait.
 */
export function senderOf(c: Context<AppContext>) {
  const { bridge: bridgeId, app } = c.var.caller;
  return { ...personOf(c), bridgeId, terms: app?.key.terms, images: c.var.images?.place };
}

/** @throws {DrawbridgeError} FORBIDDEN if the caller is a user of an app whose token may not do this. */
export function requireRight(
  { var: { caller } }: Context<AppContext>,
  right: Right | 'person',
): void {
  if (!caller.app) return;
  if (right === 'person') {
    throw new DrawbridgeError('FORBIDDEN', 'Only people do this, and no users of an app');
  }
  if (caller.app.can.includes(right)) return;
  const { id } = caller.app.key;
  throw new DrawbridgeError(
    'FORBIDDEN',
    `This token may not do that: it needs the right \`${right}\`, which it or the key ${id} does not have`,
  );
}

/** Refuses requests without a token of this scope. For the scope `user`, a ticket can replace the token. */
export function authenticate(scope: Claims['scope']): MiddlewareHandler<AppContext> {
  return async (c, next) => {
    const ticket = scope === 'user' ? ticketOf(c.req) : undefined;
    const claims =
      ticket === undefined
        ? await verify(c.env, tokenIn(c.req))
        : await redeem(c.env, ticket, c.req);
    if (claims.scope !== scope) {
      throw new DrawbridgeError(
        'FORBIDDEN',
        `This needs a token with the scope ${scope}, not ${claims.scope}`,
      );
    }
    if (claims.app) requireOrigin(c.req, claims.app.key);
    const { sub: account, sid: session } = claims;
    c.set('account', account);
    if (scope !== 'operator') {
      const isRead = scope === 'user' && c.req.method === 'GET';
      await requireLiving(c.env, { account, session, isRead });
    }
    c.set('caller', claims);
    await next();
  };
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

/**
 * Uses the ticket. A second use fails, for example by a reader of a log, unless it is that of an EventSource that comes
 * back: it sends the same address again, with the id of the last event that it has got.
 */
async function redeem(env: Env, ticket: string, request: HonoRequest): Promise<Claims> {
  const isReturn = EVENT_ID.test(request.header('last-event-id') ?? '');
  const opened = await verifyTicket(env.AUTH_SECRET, ticket, { path: request.path, isReturn });
  const { id, account, session, untilMs, salt } = opened;
  const keyId = keyOfAccount(account);
  const key = keyId === undefined ? undefined : await findKey(env, keyId);
  if (keyId !== undefined && (!key || key.salt !== salt)) {
    throw unauthenticated('The ticket is not valid: the key of its app has ended or was renewed');
  }
  if (!(await accountOf(env, account).redeem(opened, isReturn))) {
    throw unauthenticated('The ticket was used already: get a new one for each stream');
  }
  const claims = { sub: account, scope: 'user', sid: session, expiresMs: untilMs } as const;
  const app = key && { key, can: key.terms.can };
  return { ...claims, ticket: { id, usedMs: Date.now() }, ...(app && { app }) };
}

/** The id of an event: no stream begins with 0. */
const EVENT_ID = /^[1-9]\d*$/;

/** Only pages that the app names may use its tokens: one that got hold of a token sends its own origin. */
function requireOrigin(request: HonoRequest, { id, terms }: StoredKey): void {
  const origin = request.header('origin');
  if (origin === undefined || terms.origins.includes(origin)) return;
  throw new DrawbridgeError(
    'FORBIDDEN',
    `The key ${id} does not allow the origin of this page: its operator can add it`,
  );
}

async function verify(env: Env, token: string | undefined): Promise<Claims> {
  if (!token) throw unauthenticated('Send a token: Authorization: Bearer TOKEN');
  const keys = await secretKeys(env.AUTH_SECRET);
  const known = verified.find(token, keys, Date.now());
  if (known) return known;
  const issuer = Issued.safeParse(unverified(token, 1)).data?.iss;
  if (issuer === TOKEN_ISSUER) return await verifyOwn(keys, token);
  const key = issuer === undefined ? undefined : await findIssuer(env, issuer);
  if (!key) throw unauthenticated('The token is not valid');
  const { provider } = key.terms;
  const {
    account: sub,
    can,
    expiresMs,
  } = await (provider?.issuer === issuer && provider
    ? verifyProviderToken(key, provider, token)
    : verifyAppToken(keys, key, token));
  return { sub, scope: 'user', expiresMs, app: { key, can } };
}

/** Who claims to have signed a token. */
const Issued = z.object({ iss: z.string() });

/** A token that AUTH_SECRET itself has signed. */
async function verifyOwn(keys: SecretKeys, token: string): Promise<Claims> {
  const { claims, iat, exp } = await readClaims(token, keys);
  const nowSeconds = Date.now() / SECOND;
  if (exp - Math.min(iat ?? nowSeconds, nowSeconds) > AUTH_LIMITS.maxTokenSeconds) {
    throw unauthenticated(`The token is valid for more than ${MAX_TOKEN_DAYS} days: get a new one`);
  }
  verified.remember(token, keys, claims, exp);
  return claims;
}

async function readClaims(token: string, keys: SecretKeys) {
  try {
    const payload = await verifySigned(keys, token, {
      audience: TOKEN_AUDIENCE,
      requiredClaims: ['exp', 'sub'],
    });
    const { exp = 0, iat } = payload;
    return { claims: { ...Claims.parse(payload), expiresMs: exp * SECOND }, exp, iat };
  } catch (error) {
    throw unauthenticated(expiryOf('token', error) ?? 'The token is not valid', error);
  }
}
