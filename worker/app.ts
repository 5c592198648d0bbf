/** The route table. */
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { DrawbridgeError, toWireError } from '../shared/errors.ts';
import { type AppContext, authenticate } from './auth/caller.ts';
import { allowOrigins } from './auth/origins.ts';
import { bridges } from './routes/bridges.ts';
import { chat } from './routes/chat.ts';
import { conversations } from './routes/conversations.ts';
import { listings } from './routes/listings.ts';

export const app = new Hono<AppContext>();

app.get('/health', (c) => c.json({ status: 'ok' }));

app.use('/api/v1/bridges/:id/connect', authenticate('bridge'));
app.route('/api/v1/bridges', bridges);

app.use('*', allowOrigins);

// Everything else, known or not, is for users with a token: whoever has none learns nothing.
app.use('*', authenticate('user'));
app.route('/api/v1/chat', chat);
app.route('/api/v1/conversations', conversations);
app.route('/api/v1', listings);

app.notFound((c) => {
  const { status, body } = toWireError(
    new DrawbridgeError('NOT_FOUND', 'There is nothing at this address'),
  );
  return Response.json(body, { status, headers: c.res.headers });
});

app.onError((error) => {
  if (error instanceof HTTPException) return error.getResponse();
  const { status, body } = toWireError(error);
  if (body.error.code === 'INTERNAL') console.error('request failed', error);
  const headers = status === 401 ? { 'www-authenticate': 'Bearer' } : undefined;
  return Response.json(body, { status, ...(headers && { headers }) });
});
