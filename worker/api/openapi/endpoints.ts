/** All endpoints of the Worker, and `GET /openapi.json`, which describes them and itself. */
import type { Context } from 'hono';
import { type Endpoint, jsonAnswer } from '../../endpoint.ts';
import { OPENAI } from '../../openai/routes.ts';
import type { AppContext } from '../../people/caller.ts';
import { ACCOUNT } from '../account.ts';
import { ANSWERS } from '../answers.ts';
import { BRIDGES } from '../bridges.ts';
import { CHAT } from '../chat.ts';
import { CONVERSATION_ENDPOINTS } from '../conversations.ts';
import { EXPORT } from '../export.ts';
import { SERVICE } from '../service.ts';
import { TICKETS } from '../tickets.ts';
import { describeApi } from './document.ts';
import { OpenApi } from './named.ts';

/** The description of the API. */
export const DOCUMENT_LIMITS = {
  /** It changes with deployments only, and a generated client is not made anew every minute. */
  maxAgeSeconds: 300,
} as const;

/** What worker/app.ts serves: there is no other route. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...[...CHAT, ...CONVERSATION_ENDPOINTS, ...EXPORT, ...ANSWERS, ...TICKETS],
  ...[...ACCOUNT, ...BRIDGES, ...SERVICE],
  {
    id: 'getOpenApi',
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    access: 'open',
    answers: [jsonAnswer(200, 'OpenAPI 3.1.', OpenApi)],
    handle: serveDocument,
  },
  ...OPENAI,
];

/** The document is public, like the source that it is made from. */
function serveDocument(c: Context<AppContext>): Response {
  text ??= JSON.stringify(describeApi(ENDPOINTS));
  return c.body(text, 200, {
    'content-type': 'application/json',
    'cache-control': `public, max-age=${DOCUMENT_LIMITS.maxAgeSeconds}`,
  });
}

/** Made with the first request of this isolate; it changes only with the code. */
let text: string | undefined;
