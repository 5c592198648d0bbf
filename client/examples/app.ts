/**
 * The backend of a web app whose users talk to the agent. It runs on Workers, and on Node by `@hono/node-server`:
 * `serve({ fetch: (request) => app.fetch(request, process.env) })`.
 */
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';

interface Env {
  readonly DRAWBRIDGE_URL: string;
  /** What `drawbridge keys create` prints. It never leaves the backend. */
  readonly APP_SECRET: string;
}

const app = new Hono<{ Bindings: Env }>();

app.post('/agent-token', async (c) => {
  const user = userOf(getCookie(c, 'session'));
  if (user === undefined) return c.text('Sign in first.', 401);
  const answer = await fetch(`${c.env.DRAWBRIDGE_URL}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${c.env.APP_SECRET}` },
    body: JSON.stringify({ user, can: ['chat', 'read'] }),
  });
  if (!answer.ok) return c.text('The agent cannot be reached.', 502);
  const { token } = (await answer.json()) as { token: string };
  return c.json({ url: c.env.DRAWBRIDGE_URL, token }, 200, { 'cache-control': 'no-store' });
});

/** Your own sign-in belongs here: this one believes the cookie. */
function userOf(session: string | undefined): string | undefined {
  return session;
}

export default app;
