/** Routes requests to the endpoints, and checks the access of each. */
import type { Context } from 'hono';
import { HonoBase } from 'hono/hono-base';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { getPath } from 'hono/utils/url';
import { DOORS } from '../doors/index.ts';
import { DrawbridgeError, toWireError } from '../shared/errors.ts';
import { newConversationId } from '../shared/ids.ts';
import { type AppContext, authenticate, requireRight } from './account/caller.ts';
import { turnOf } from './account/heavy-work.ts';
import { countRun, limitRate, limitRefused } from './account/rate-limit.ts';
import { observe } from './api/observe.ts';
import { ENDPOINTS } from './api/openapi/endpoints.ts';
import { allowOrigins } from './api/origins.ts';
import { dropBody } from './desk/read-text.ts';
import type { Endpoint, EndpointAccess } from './endpoint.ts';
import { noteDamage } from './health/damage.ts';
import { logEvent } from './health/log.ts';
import { metrics } from './health/metrics.ts';
import { accountOf, conversationOf } from './objects.ts';
import { servePage } from './page/serve.ts';
import { unlessReset } from './reach.ts';

// Hono's presets bring more routers.
export const app = new HonoBase<AppContext>({ router: new RegExpRouter(), getPath: plainPath });

app.use('*', observe);
for (const endpoint of endpointsFor('bridge')) {
  app.use(patternOf(endpoint), authenticate('bridge'));
  serve(endpoint);
}

app.use('*', servePage);
for (const endpoint of endpointsFor('operator')) {
  app.use(patternOf(endpoint), authenticate('operator'));
  serve(endpoint);
}
app.use('*', allowOrigins);
for (const endpoint of endpointsFor('open', 'metrics', 'app')) serve(endpoint);

// All other paths, known or not, need a user's token. Without one, even an unknown path answers 401.
app.use('*', authenticate('user'));
app.use('*', limitRate);
for (const endpoint of endpointsFor('user', 'stream')) serve(endpoint);
for (const { calls } of DOORS) {
  if (!calls) continue;
  for (const path of calls.paths) app.post(path, calls.serve);
}

/**
 * The path without the slashes that clients leave over where they join a base and a path. All of the Worker asks
 * `c.req.path`, so that no check sees another path than the route. A slash written as `%2F` stays as it is.
 */
function plainPath(request: Request): string {
  return getPath(request).replaceAll(/(?<=[^/])\/+$|\/+(?=\/)/g, '');
}

function endpointsFor(...accesses: readonly EndpointAccess[]): readonly Endpoint[] {
  return ENDPOINTS.filter(({ access }) => accesses.includes(access));
}

function serve(endpoint: Endpoint): void {
  app.on(endpoint.method.toUpperCase(), patternOf(endpoint), async (c) => {
    c.set('operation', endpoint.id);
    if (endpoint.needs) requireRight(c, endpoint.needs);
    if (endpoint.rate === 'run') await countRun(c);
    const { signal } = c.req.raw;
    using turn = endpoint.isHeavy ? await turnOf(c.var.caller.sub, signal) : null;
    if (turn) c.set('turn', turn);
    try {
      return await endpoint.handle(
        c,
        async (request) => await app.fetch(request, c.env, c.executionCtx),
      );
    } finally {
      c.var.images?.end();
    }
  });
}

/** The path as Hono writes it: `/api/v1/conversations/:id`. */
function patternOf({ path, params = {} }: Endpoint): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return params[name]?.hasSlashes ? `:${name}{.+}` : `:${name}`;
  });
}

app.notFound(async (c) => {
  await dropBody(c.req.raw);
  const error = new DrawbridgeError('NOT_FOUND', 'There is nothing at this address');
  return toResponse(c, error, c.res.headers);
});

app.onError(async (thrown, c) => {
  await dropBody(c.req.raw);
  // A server of one's own has no other internal errors than files that cannot be opened.
  const error = counted(c, unlessReset(thrown, c.env.PUBLIC_NETWORK !== undefined));
  const { status, body } = toWireError(error);
  const { code } = body.error;
  const isGone = c.req.raw.signal.aborted; // The client has left: errors of the aborted request are not faults.
  const { trace, operation, caller } = c.var;
  if (!isGone) metrics.errors.add({ place: 'request', code });
  if (code === 'INTERNAL' && !isGone)
    logEvent('request_failed', { trace, operation, account: caller?.sub, error });
  if (code === 'DAMAGED') noteDamage({ trace, operation, ...damagedFor(c, error) });
  return toResponse(c, error, headersOf(error, status));
});

/** The conversation that a path names, by its own id or by that of a response. */
const CONVERSATION_IN = /\b(?:conv|chat)_([\w-]+)/;

/** Names the file: the runtime does not always. What fails before the caller is known is its account's. */
function damagedFor({ env, req, var: known }: Context<AppContext>, { cause: error }: Error) {
  const { account, caller }: Partial<AppContext['Variables']> = known;
  const [, uuid] = CONVERSATION_IN.exec(req.path) ?? [];
  const conversation = uuid && newConversationId(uuid);
  const named =
    conversation && caller
      ? conversationOf(env, { conversationId: conversation })
      : account && accountOf(env, account);
  const { durableObjectId: object = named ? String(named.id) : undefined } = Object(error);
  return { account, conversation, object, error };
}

/** A refusal for want of a valid token counts against the address of its sender, and may be one too many. */
function counted(c: Context<AppContext>, error: Error): Error {
  if (!(error instanceof DrawbridgeError && error.code === 'UNAUTHENTICATED')) return error;
  try {
    limitRefused(c);
    return error;
  } catch (tooMany) {
    return tooMany instanceof DrawbridgeError ? tooMany : error;
  }
}

function toResponse(
  { req, var: { trace } }: Context<AppContext>,
  error: Error,
  headers: HeadersInit,
): Response {
  for (const { refusal } of DOORS) {
    const response = refusal?.(req, error, headers);
    if (response) return response;
  }
  const { status, body } = toWireError(error);
  return Response.json({ error: { ...body.error, traceId: trace } }, { status, headers });
}

function headersOf(error: Error, status: number): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  const { retryAfterSeconds } = Object(error instanceof DrawbridgeError ? error.details : null);
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}
