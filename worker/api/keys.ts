/** `keys`, `tokens`: the apps whose users talk to the agent, and the tokens of these users. */
import type { Context } from 'hono';
import {
  AppKey,
  AppToken,
  KeyId,
  KeyList,
  KeyRequest,
  KeyTerms,
  NewKey,
  TokenRequest,
} from '../../shared/api/keys.ts';
import type { AppContext } from '../account/caller.ts';
import { limitKey } from '../account/rate-limit.ts';
import { findKey, forgetKeys } from '../apps/known.ts';
import { isSecretOf, keyNamedIn, secretOf } from '../apps/secrets.ts';
import { mintAppToken } from '../apps/tokens.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { directoryOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import type { StoredKey } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import { secretKeys, unauthenticated } from '../secret.ts';

const COMMON = { tag: 'Apps', access: 'operator' } as const;
const PATH = '/api/v1/keys';
const KEY = { id: { description: 'The key.', zod: KeyId } };
const EXAMPLE = {
  can: ['chat', 'read'],
  origins: ['https://shop.example.com'],
  models: [],
  runsPerMinute: 20,
};

/** The endpoints of this file. */
export const KEYS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'listKeys',
    method: 'get',
    path: PATH,
    summary: 'List the keys of apps',
    answers: [jsonAnswer(200, 'The whole list.', KeyList)],
    handle: async (c) => {
      const keys = await reach<StoredKey[]>(() => directoryOf(c.env).keys());
      return c.json({ items: keys.map(shown) } satisfies KeyList);
    },
  },
  {
    ...COMMON,
    id: 'createKey',
    method: 'post',
    path: PATH,
    summary: 'Create a key for an app',
    description:
      'The answer has the secret, which no other answer shows. The app’s backend signs tokens for its users with it (HS256, `iss` the id, `sub` the app’s own id of the user, `aud` `drawbridge`, `exp` at most an hour away), or asks `POST /api/v1/tokens` for them.',
    body: { schema: KeyRequest, example: { id: 'shop', ...EXAMPLE } },
    answers: [jsonAnswer(201, 'The key with its secret.', NewKey)],
    errors: ['KEY_EXISTS'],
    handle: async (c) => {
      const { id, ...terms } = await parseBody(c, KeyRequest);
      const key = unwrap(await directoryOf(c.env).makeKey(id, terms));
      return c.json(await withSecret(c, key), 201);
    },
  },
  {
    ...COMMON,
    id: 'changeKey',
    method: 'put',
    path: `${PATH}/{id}`,
    summary: 'Change what a key allows',
    description: 'Counts from the next request of each user on.',
    params: KEY,
    body: { schema: KeyTerms, example: EXAMPLE },
    answers: [jsonAnswer(200, 'The key.', AppKey)],
    handle: async (c) => {
      const id = keyIn(c);
      const terms = await parseBody(c, KeyTerms);
      const change = () => directoryOf(c.env).changeKey(id, terms);
      const key = unwrap(await reach<Outcome<StoredKey>>(change));
      forgetKeys();
      return c.json(shown(key));
    },
  },
  {
    ...COMMON,
    id: 'renewKeySecret',
    method: 'post',
    path: `${PATH}/{id}/secret`,
    summary: 'Give a key another secret',
    description: 'Ends all tokens of the old secret.',
    params: KEY,
    answers: [jsonAnswer(200, 'The key with its new secret.', NewKey)],
    handle: async (c) => {
      const key = unwrap(await directoryOf(c.env).renewSecret(keyIn(c)));
      return c.json(await withSecret(c, key));
    },
  },
  {
    ...COMMON,
    id: 'deleteKey',
    method: 'delete',
    path: `${PATH}/{id}`,
    summary: 'Delete a key',
    description: 'Ends all its tokens. The conversations of the app’s users stay.',
    params: KEY,
    answers: [{ status: 204, description: 'There is no such key now.' }],
    handle: async (c) => {
      const id = keyIn(c);
      await reach<void>(() => directoryOf(c.env).deleteKey(id));
      forgetKeys();
      return c.body(null, 204);
    },
  },
  {
    id: 'createToken',
    method: 'post',
    path: '/api/v1/tokens',
    tag: 'Apps',
    access: 'app',
    summary: 'Create a token for a user of an app',
    description: 'Send the secret of the app’s key as the bearer token.',
    body: { schema: TokenRequest, example: { user: '42' } },
    answers: [jsonAnswer(201, 'The token.', AppToken)],
    handle: async (c) => {
      const masters = await secretKeys(c.env.AUTH_SECRET);
      const [, secret = ''] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
      const key = await findKey(c.env, keyNamedIn(secret) ?? '');
      if (!key || !(await isSecretOf(masters, key, secret))) {
        throw unauthenticated('Send the secret of an app’s key: Authorization: Bearer dbk_…');
      }
      limitKey(c, key);
      return c.json(await mintAppToken(masters, key, await parseBody(c, TokenRequest)), 201);
    },
  },
];

function keyIn(c: Context<AppContext>): string {
  return parseId(KeyId, c.req.param('id'), 'key');
}

async function withSecret(c: Context<AppContext>, key: StoredKey): Promise<NewKey> {
  forgetKeys();
  const secret = await secretOf(await secretKeys(c.env.AUTH_SECRET), key);
  return { ...shown(key), secret };
}

function shown({ id, createdMs, terms }: StoredKey): AppKey {
  return { id, created: new Date(createdMs).toISOString(), ...terms };
}
