/** All endpoints of the Worker, and `GET /openapi.json`, which describes them and itself. */
import type { Context } from 'hono';
import { DOORS } from '../../../doors/index.ts';
import type { AppContext } from '../../account/caller.ts';
import { type Endpoint, jsonAnswer } from '../../endpoint.ts';
import { ACCOUNT } from '../account.ts';
import { ACCOUNT_EVENTS } from '../account-events.ts';
import { ACCOUNTS } from '../accounts.ts';
import { AGENT_ENDPOINTS } from '../agents.ts';
import { ANSWERS } from '../answers.ts';
import { BRIDGES } from '../bridges.ts';
import { CHAT } from '../chat.ts';
import { COMPACT } from '../compact.ts';
import { CONVERSATION_ENDPOINTS } from '../conversations.ts';
import { EXPORT } from '../export.ts';
import { INVITATIONS } from '../invitations.ts';
import { KEYS } from '../keys.ts';
import { PASSKEYS } from '../passkeys.ts';
import { PLANS } from '../plans.ts';
import { PUSH } from '../push.ts';
import { RECORDS } from '../records.ts';
import { SEND_WHOLE } from '../send-whole.ts';
import { SERVICE } from '../service.ts';
import { SESSIONS } from '../sessions.ts';
import { TICKETS } from '../tickets.ts';
import { UNDO } from '../undo.ts';
import { USAGE } from '../usage.ts';
import { describeApi } from './document.ts';
import { OpenApi } from './named.ts';

/** The limits of `/openapi.json`. */
const DOCUMENT_LIMITS = {
  /** Seconds that a client may cache the document. It changes only with a deployment. */
  maxAgeSeconds: 300,
} as const;

/** All routes that worker/app.ts serves. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...CHAT,
  ...CONVERSATION_ENDPOINTS,
  ...EXPORT,
  ...ANSWERS,
  ...PLANS,
  ...UNDO,
  ...COMPACT,
  ...SEND_WHOLE,
  ...TICKETS,
  ...AGENT_ENDPOINTS,
  ...ACCOUNT,
  ...ACCOUNT_EVENTS,
  ...USAGE,
  ...BRIDGES,
  ...KEYS,
  ...SESSIONS,
  ...INVITATIONS,
  ...PASSKEYS,
  ...RECORDS,
  ...ACCOUNTS,
  ...PUSH,
  ...SERVICE,
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
  ...DOORS.flatMap(({ endpoints }) => endpoints),
];

/** Needs no token: the document is public, like the source code. */
function serveDocument(c: Context<AppContext>): Response {
  text ??= JSON.stringify(describeApi(ENDPOINTS));
  return c.body(text, 200, {
    'content-type': 'application/json',
    'cache-control': `public, max-age=${DOCUMENT_LIMITS.maxAgeSeconds}`,
  });
}

/** The document's JSON. Made on the first request of this isolate; it changes only with the code. */
let text: string | undefined;
