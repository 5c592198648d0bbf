import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it } from 'vitest';
import { chat, scriptModel, tokenFor } from '../api.ts';

const settings = env as { ALLOWED_ORIGINS?: string };
const origins = settings.ALLOWED_ORIGINS ?? '';
afterEach(() => {
  settings.ALLOWED_ORIGINS = origins;
});

/** How clients join a base that ends in a slash, and a path that begins with one. */
const FORMS: readonly [string, (path: string) => string][] = [
  ['a double slash in front', (path) => `/${path}`],
  ['a double slash within', (path) => path.replace(/\/(?!.*\/)/, '//')],
  ['a slash at the end', (path) => `${path}/`],
  ['many', (path) => `//${path.replaceAll('/', '//')}///`],
];

describe.each(FORMS)('%s', (_, written) => {
  it.each([
    ['GET', '/api/v1/me'],
    ['GET', '/v1/models'],
    ['GET', '/health'],
    ['GET', '/'],
    ['GET', '/openapi.json'],
    ['GET', '/metrics'],
    ['GET', '/api/v1/operator/keys'],
    ['GET', '/api/v1/bridges/bridge_x/connect'],
    ['POST', '/aiserver.v1.AiService/AvailableModels'],
    ['POST', '/aiserver.v1.AiService/Nothing'],
    ['GET', '/v1/nothing'],
    ['GET', '/api/v1/nothing'],
  ])('answers as the plain path: %s %s', async (method, path) => {
    for (const authorization of [undefined, `Bearer ${await tokenFor()}`]) {
      const ask = (at: string) => send(at, { method, ...(authorization && { authorization }) });
      expect(await shownBy(await ask(written(path)))).toEqual(await shownBy(await ask(path)));
    }
  });

  it('a message is taken at once, without a redirect', async () => {
    scriptModel(() => ({ text: 'hi' }));
    const authorization = `Bearer ${await tokenFor()}`;
    for (const path of ['/api/v1/chat/completions', '/v1/chat/completions']) {
      const body = JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] });
      const answer = await send(written(path), { method: 'POST', authorization, body });
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain('hi');
    }
  });

  it('names the same ids', async () => {
    scriptModel(() => ({ text: 'hi' }));
    const { id } = await chat('hello');
    const path = written(`/api/v1/chat/completions/${id}`);
    const answer = await send(path, { authorization: `Bearer ${await tokenFor()}` });
    expect(await answer.json()).toMatchObject({ id });
    expect((await send(path, { authorization: `Bearer ${await eve()}` })).status).toBe(404);
  });

  it('has the same origins', async () => {
    settings.ALLOWED_ORIGINS = 'https://app.test';
    const preflight = (origin: string) =>
      send(written('/api/v1/chat/completions'), {
        method: 'OPTIONS',
        origin,
        'access-control-request-method': 'POST',
      });
    expect((await preflight('https://app.test')).status).toBe(204);
    expect((await preflight('https://evil.test')).status).toBe(403);
  });
});

it('a slash that is written as %2F stays part of its segment', async () => {
  for (const path of ['/%2Fhealth', '/api%2Fv1/me', '/v1%2F/models', '/health%2F'])
    expect((await send(path, { authorization: `Bearer ${await tokenFor()}` })).status).toBe(404);
});

type Sent = Record<string, string>;

function send(path: string, { method = 'GET', body, ...headers }: Sent): Promise<Response> {
  const init = { method, headers, redirect: 'manual' as const };
  return SELF.fetch(`https://drawbridge.test${path}`, { ...init, ...(body && { body }) });
}

/** What differs between two answers of one path is left out: times, counts and ids. */
async function shownBy(answer: Response): Promise<unknown> {
  const { status, headers } = answer;
  const text = await answer.text();
  const same = text.slice(0, 300).replaceAll(/[\da-f]{32}|\d+/g, '#');
  return [status, headers.get('content-type'), same];
}

function eve(): Promise<string> {
  return tokenFor({ account: 'eve' });
}
