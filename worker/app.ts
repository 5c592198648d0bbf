/** The route table. */
import { HTTPException } from 'hono/http-exception';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { Hono } from 'hono/tiny';
import { DrawbridgeError, toWireError } from '../shared/errors.ts';
import { bridges } from './api/bridges.ts';
import { chat } from './api/chat.ts';
import { conversations } from './api/conversations.ts';
import { listings } from './api/listings.ts';
import { openapi } from './api/openapi/route.ts';
import { allowOrigins } from './api/origins.ts';
import { tickets } from './api/tickets.ts';
import { isOpenAiPath, openai, toOpenAiResponse } from './openai/routes.ts';
import { type AppContext, authenticate } from './people/caller.ts';
import { limitRate } from './people/rate-limit.ts';
import { secretKey } from './people/secret.ts';
import { unlessReset } from './reach.ts';

export const app = new Hono<AppContext>();
// The small preset comes with a router that takes `/v1/models/` for `/v1/models`. It has no option for another one.
app.router = new RegExpRouter();

app.get('/health', async (c) => {
  await secretKey(c.env.AUTH_SECRET); // Without it nothing else works: told here, before anybody needs a token.
  return c.json({ status: 'ok' });
});

app.use('/api/v1/bridges/:id/connect', authenticate('bridge'));
app.route('/api/v1/bridges', bridges);

app.use('*', allowOrigins);
app.route('/', openapi);

// Everything else, known or not, is for users with a token: whoever has none learns nothing.
app.use('*', authenticate('user'));
app.use('*', limitRate);
app.route('/api/v1/chat', chat);
app.route('/api/v1/conversations', conversations);
app.route('/api/v1/tickets', tickets);
app.route('/api/v1', listings);
app.route('/v1', openai);

app.notFound((c) => {
  const error = new DrawbridgeError('NOT_FOUND', 'There is nothing at this address');
  return toResponse(c.req.path, error, c.res.headers);
});

app.onError((thrown, c) => {
  if (thrown instanceof HTTPException) return thrown.getResponse();
  const error = unlessReset(thrown);
  const { status, body } = toWireError(error);
  const isGone = c.req.raw.signal.aborted; // Nobody hears the answer, and what was cut off is no fault.
  if (body.error.code === 'INTERNAL' && !isGone) console.error('request failed', error);
  return toResponse(c.req.path, error, headersOf(error, status));
});

function toResponse(path: string, error: Error, headers: HeadersInit): Response {
  if (isOpenAiPath(path)) return toOpenAiResponse(error, headers);
  const { status, body } = toWireError(error);
  return Response.json(body, { status, headers });
}

function headersOf(error: Error, status: number): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  const { retryAfterSeconds } = Object(error instanceof DrawbridgeError ? error.details : null);
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}
