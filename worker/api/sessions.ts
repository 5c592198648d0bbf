/** `sessions`, `logins`: the keys that act for a person, and how a new one gets in. */
import type { Context } from 'hono';
import {
  Login,
  LoginCode,
  LoginDecision,
  LoginRequest,
  LoginView,
  NewSession,
  plainCode,
  type Session,
  SessionList,
  SessionRequest,
  SessionToken,
  SessionTokenRequest,
} from '../../shared/api/sessions.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { SessionId } from '../../shared/ids.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { SECOND } from '../../shared/units.ts';
import { LOGIN_PROOF } from '../../shared/wire/tokens.ts';
import type { AppContext } from '../account/caller.ts';
import { addressOf, limitLogin, limitStranger } from '../account/rate-limit.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { accountOf, directoryOf } from '../objects.ts';
import { isOwnHost } from '../origin.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import { entryHash, newEntrySecret } from '../people/entry-secrets.ts';
import { newKeyIn } from '../people/proof.ts';
import { refused } from '../people/refused.ts';
import { mintSessionToken } from '../people/token.ts';
import type { StoredSession } from '../ports/account.ts';
import type { Admitted, WaitingLogin } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import { secretKeys } from '../secret.ts';
import { PUBLIC_KEY } from './examples.ts';
import { record } from './records.ts';

const PEOPLE = { tag: 'People', access: 'user', needs: 'person' } as const;
const STRANGERS = { tag: 'People', access: 'open' } as const;
const SESSION = { id: { description: 'The session.', zod: SessionId } };
const CODE = {
  code: { description: 'The code of the login, such as `BCDF-GHJK`.', zod: LoginCode },
};
const PROOF = 'eyJhbGciOiJFUzI1NiJ9…';
const MACHINE = { name: 'ana-laptop', kind: 'machine', proof: PROOF };
const EXAMPLE_SECRET = `dbi_${'x'.repeat(43)}`;
const EXAMPLE_SESSION = 'sess_0c8f1e5a-3b7d-4a52-9f60-2d1e7b8c9a10';

/** The endpoints of this file. */
export const SESSIONS: readonly Endpoint[] = [
  {
    ...STRANGERS,
    id: 'createLogin',
    method: 'post',
    path: '/api/v1/logins',
    summary: 'Ask a person to let a machine in',
    description:
      'For a machine without a secret: a person types the code on a device that is signed in, and compares the key’s fingerprint. Meanwhile the machine asks `POST /api/v1/sessions` with the secret, which answers `LOGIN_PENDING`.',
    body: { schema: LoginRequest, example: MACHINE },
    answers: [jsonAnswer(201, 'The login.', Login)],
    errors: ['UNAUTHENTICATED', 'CLOCK_OFF', 'RATE_LIMITED', 'UNAVAILABLE'],
    handle: async (c) => {
      limitLogin(c);
      const { name, kind, proof } = await parseBody(c, LoginRequest);
      const key = await newKeyIn(proof, LOGIN_PROOF, (host) => isOwnHost(c, host));
      const secret = newEntrySecret('login');
      const expiresMs = Date.now() + SESSION_LIMITS.loginMs;
      const login = { secret: await entryHash(secret), name, kind, key, expiresMs };
      const code = unwrap(await directoryOf(c.env).beginLogin({ ...login, address: addressOf(c) }));
      const answer: Login = {
        secret,
        code: code.replace(/^.{4}/, '$&-'),
        expires: new Date(expiresMs).toISOString(),
        intervalSeconds: SESSION_LIMITS.loginIntervalMs / SECOND,
      };
      return c.json(answer, 201);
    },
  },
  {
    ...PEOPLE,
    id: 'getLogin',
    method: 'get',
    path: '/api/v1/logins/{code}',
    summary: 'Get a machine that asks to be let in',
    description: 'An account that names too many codes that do not exist has to wait.',
    params: CODE,
    answers: [jsonAnswer(200, 'What it says of itself, and its key.', LoginView)],
    handle: async (c) => {
      const code = codeIn(c);
      const ask = () => directoryOf(c.env).login(c.var.caller.sub, code);
      const { name, kind, key, address, madeMs } = unwrap(await reach<Outcome<WaitingLogin>>(ask));
      const created = new Date(madeMs).toISOString();
      const view: LoginView = { name, kind, key, ...(address && { address }), created };
      return c.json(view);
    },
  },
  {
    ...PEOPLE,
    id: 'decideLogin',
    method: 'post',
    path: '/api/v1/logins/{code}',
    summary: 'Let a machine in, or refuse it',
    description:
      'It gets a session in the caller’s account. Show the person its name, and have them compare the fingerprint of its key with the one that the machine shows: a stranger can begin a login, too.',
    params: CODE,
    body: { schema: LoginDecision, example: { decision: 'approve', key: PUBLIC_KEY } },
    answers: [{ status: 204, description: 'It was decided.' }],
    errors: ['KEY_CHANGED'],
    handle: async (c) => {
      const code = codeIn(c);
      const decision = await parseBody(c, LoginDecision);
      const { sub: account, sid: session } = c.var.caller;
      const decider = { account, session };
      const { name } = unwrap(await directoryOf(c.env).decideLogin(decider, code, decision));
      const action = decision.decision === 'approve' ? 'login_approved' : 'login_refused';
      await record(c, account, { action, subject: name });
      return c.body(null, 204);
    },
  },
  {
    ...STRANGERS,
    id: 'createSession',
    method: 'post',
    path: '/api/v1/sessions',
    summary: 'Get in with an invitation or a login',
    description: 'The same secret with the same key gives the same session again.',
    body: { schema: SessionRequest, example: { secret: EXAMPLE_SECRET, ...MACHINE } },
    answers: [jsonAnswer(201, 'The session and its account.', NewSession)],
    errors: [
      ...(['UNAUTHENTICATED', 'CLOCK_OFF', 'RATE_LIMITED', 'UNAVAILABLE'] as const),
      ...(['ENTRY_ENDED', 'LOGIN_PENDING', 'LOGIN_REFUSED'] as const),
      ...(['ACCOUNT_SUSPENDED', 'ACCOUNT_DELETED'] as const),
    ],
    handle: async (c) => {
      const { secret, name, kind, proof } = await parseBody(c, SessionRequest);
      limitStranger(c, secret);
      const key = await newKeyIn(proof, secret, (host) => isOwnHost(c, host));
      const hash = await entryHash(secret);
      const enter = () => directoryOf(c.env).enter(hash, key);
      const { account, session, by } = unwrap(await reach<Outcome<Admitted>>(enter));
      const added = { id: session, name, kind, key };
      unwrap(await reach<Outcome<void>>(() => accountOf(c.env, account).addSession(added, by)));
      return c.json({ session, account } satisfies NewSession, 201);
    },
  },
  {
    ...STRANGERS,
    id: 'createSessionToken',
    method: 'post',
    path: '/api/v1/sessions/token',
    summary: 'Get a token for a session',
    description: 'It is valid for ten minutes. `SESSION_ENDED` is final: forget the key then.',
    body: {
      schema: SessionTokenRequest,
      example: { account: 'ana', session: EXAMPLE_SESSION, proof: PROOF },
    },
    answers: [jsonAnswer(201, 'The token.', SessionToken)],
    errors: [
      ...(['UNAUTHENTICATED', 'SESSION_ENDED', 'CLOCK_OFF', 'FORBIDDEN'] as const),
      ...(['ACCOUNT_SUSPENDED', 'ACCOUNT_DELETED'] as const),
      ...(['RATE_LIMITED', 'NOT_CONFIGURED', 'UNAVAILABLE'] as const),
    ],
    handle: async (c) => {
      const { account, session: id, bridge, proof } = await parseBody(c, SessionTokenRequest);
      limitStranger(c, id);
      const hasEntered = await reach<boolean>(() => directoryOf(c.env).hasEntered(account));
      if (!hasEntered) throw refused('SESSION_ENDED');
      const session = unwrap(await accountOf(c.env, account).proveSession(id, proof));
      if (bridge !== undefined && session.kind !== 'machine') {
        throw new DrawbridgeError('FORBIDDEN', 'Only the session of a machine runs bridges');
      }
      const keys = await secretKeys(c.env.AUTH_SECRET);
      return c.json(await mintSessionToken(keys, { account, session: id, bridge }), 201);
    },
  },
  {
    ...PEOPLE,
    id: 'listSessions',
    method: 'get',
    path: '/api/v1/sessions',
    summary: 'List the account’s sessions',
    answers: [jsonAnswer(200, 'The whole list, the newest first.', SessionList)],
    handle: async (c) => {
      const { sub, sid } = c.var.caller;
      const sessions = await reach<StoredSession[]>(() => accountOf(c.env, sub).sessions());
      const items = sessions.map((session) => shown(session, sid));
      return c.json({ items } satisfies SessionList);
    },
  },
  {
    ...PEOPLE,
    id: 'endSession',
    method: 'delete',
    path: '/api/v1/sessions/{id}',
    summary: 'End a session',
    description:
      'What it sends is refused at once. Its streams and bridges are cut within seconds, all of them within ten minutes.',
    params: SESSION,
    answers: [{ status: 204, description: 'There is no such session now.' }],
    handle: async (c) => {
      const id = parseId(SessionId, c.req.param('id'), 'session');
      const { sub, sid } = c.var.caller;
      await reach<void>(() => accountOf(c.env, sub).endSession(id, sid));
      return c.body(null, 204);
    },
  },
];

function codeIn(c: Context<AppContext>): string {
  return plainCode(parseId(LoginCode, c.req.param('code'), 'login'));
}

function shown(
  { id, name, kind, key, madeMs, seenMs }: StoredSession,
  own: string | undefined,
): Session {
  const [created, lastUsed] = [new Date(madeMs).toISOString(), new Date(seenMs).toISOString()];
  return { id, name, kind, key, created, lastUsed, current: id === own };
}
