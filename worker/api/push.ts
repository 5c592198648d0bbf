/** `push`: the caller's subscription to notifications. */
import type { Context } from 'hono';
import { PushRequest, PushState } from '../../shared/api/push.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import type { AppContext } from '../account/caller.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { accountOf, directoryOf } from '../objects.ts';
import { originOf } from '../origin.ts';
import type { StoredPush } from '../ports/account.ts';
import type { PushKeys } from '../ports/directory.ts';
import { placeOf, pushReachOf } from '../push/address.ts';
import { reach } from '../reach.ts';

const COMMON = { tag: 'People', access: 'user', needs: 'person', path: '/api/v1/push' } as const;

const EXAMPLE: PushRequest = {
  subscription: {
    endpoint: 'https://fcm.googleapis.com/fcm/send/dGhlIGJyb3dzZXI',
    keys: {
      p256dh:
        'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  },
  kinds: { waiting: true, ended: true, failed: false },
};

/** The endpoints of this file. */
export const PUSH: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'getPush',
    method: 'get',
    summary: 'Get the session’s subscription to notifications',
    description: 'With the key that a browser subscribes with. It stays the same.',
    answers: [jsonAnswer(200, 'The key, and the subscription if there is one.', PushState)],
    handle: async (c) => {
      const { sub, sid } = c.var.caller;
      const [keys, push] = await Promise.all([
        reach<PushKeys>(async () => await directoryOf(c.env).pushKeys()),
        sid === undefined
          ? null
          : reach<StoredPush | null>(async () => await accountOf(c.env, sub).push(sid)),
      ]);
      const subscribed = push && { ...placeOf(push.subscription), kinds: push.kinds };
      return c.json({ publicKey: keys.publicKey, subscribed } satisfies PushState);
    },
  },
  {
    ...COMMON,
    id: 'setPush',
    method: 'put',
    summary: 'Subscribe the session to notifications',
    description:
      'The browser’s, or a topic of ntfy. Replaces its subscription; a topic without a `token` keeps the one that it had. It ends with the session, and when the push service says that the browser has ended it. A token without a session has no notifications (`FORBIDDEN`).',
    body: { schema: PushRequest, example: EXAMPLE },
    answers: [{ status: 204, description: 'It is subscribed.' }],
    errors: ['WEBHOOK_NOT_ALLOWED'],
    handle: async (c) => {
      const wanted = await parseBody(c, PushRequest);
      pushReachOf(wanted.subscription, c.env);
      const { sid } = c.var.caller;
      if (sid === undefined) {
        const message = 'Only a session gets notifications: sign in with an invitation or a code';
        throw new DrawbridgeError('FORBIDDEN', message);
      }
      await savePush(c, sid, { ...wanted, origin: originOf(c) });
      return c.body(null, 204);
    },
  },
  {
    ...COMMON,
    id: 'deletePush',
    method: 'delete',
    summary: 'End the session’s subscription to notifications',
    answers: [{ status: 204, description: 'There is no subscription now.' }],
    handle: async (c) => {
      const { sid } = c.var.caller;
      if (sid !== undefined) await savePush(c, sid, null);
      return c.body(null, 204);
    },
  },
];

async function savePush(
  c: Context<AppContext>,
  session: string,
  push: StoredPush | null,
): Promise<void> {
  await reach<void>(() => accountOf(c.env, c.var.caller.sub).savePush(session, push));
}
