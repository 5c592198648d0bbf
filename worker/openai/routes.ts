/** `/v1`: the agent as OpenAI's clients see a model. */
import { Hono } from 'hono/tiny';
import { DrawbridgeError } from '../../shared/errors.ts';
import { chats } from '../../shared/models.ts';
import { parseBody } from '../desk/parse.ts';
import type { Env } from '../env.ts';
import type { AppContext } from '../people/caller.ts';
import { listModels } from '../upstream/models.ts';
import { complete } from './complete.ts';
import { failureOfRequest } from './errors.ts';
import { CompletionRequest } from './request.ts';

export const openai = new Hono<AppContext>()
  .post('/chat/completions', async (c) => await complete(c, await parseBody(c, CompletionRequest)))
  .get('/models', (c) => c.json({ object: 'list', data: modelsOf(c.env) }))
  .get('/models/:id{.+}', (c) => {
    const model = modelsOf(c.env).find(({ id }) => id === c.req.param('id'));
    if (model) return c.json(model);
    throw new DrawbridgeError('NOT_FOUND', 'model: there is no such model');
  });

/** Whether errors of this path take OpenAI's shape. */
export function isOpenAiPath(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

/**
 * Anything thrown, as OpenAI's clients read it. What could be asked again was, and nobody knows what became of the rest:
 * clients that would repeat a 5xx by themselves are told not to.
 */
export function toOpenAiResponse(thrown: unknown, headers: HeadersInit): Response {
  const { status, error } = failureOfRequest(thrown);
  const response = Response.json({ error }, { status, headers });
  if (status >= 500) response.headers.set('x-should-retry', 'false');
  return response;
}

/** The models that can be asked here; a table may hold others. */
function modelsOf(env: Env) {
  const chatting = listModels(env).items.filter(({ roles }) => !roles || chats({ roles }));
  return chatting.map(({ id }) => ({
    id,
    object: 'model',
    created: UNKNOWN_TIME,
    owned_by: 'drawbridge',
  }));
}

/** Clients want a number; when a model was made is the upstream's to know. */
const UNKNOWN_TIME = 0;
