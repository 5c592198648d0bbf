/** `passkeys`: those of an account, and how one of them signs a browser in. */
import { NewPasskey, type Passkey, PasskeyList, PasskeyLogin } from '../../shared/api/passkeys.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { loginText } from '../../shared/wire/approval-text.ts';
import { isSignedByPasskey } from '../../shared/wire/assertion.ts';
import { CredentialId } from '../../shared/wire/passkey.ts';
import { limitStranger } from '../account/rate-limit.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { directoryOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import { entryHash } from '../people/entry-secrets.ts';
import type { StoredPasskey } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import { PUBLIC_KEY } from './examples.ts';
import { record } from './records.ts';

const PEOPLE = { tag: 'People', access: 'user', needs: 'person' } as const;
const STRANGERS = { tag: 'People', access: 'open' } as const;
const PASSKEY = { id: { description: 'The id of its credential.', zod: CredentialId } };
const EXAMPLE_ID = 'AZ3m9c2rT4qPkLw0Zl5b8A';
const EXAMPLE_PART = 'SZYN5YgOjGh0NBcPZHZgW4_';

/** The endpoints of this file. */
export const PASSKEYS: readonly Endpoint[] = [
  {
    ...PEOPLE,
    id: 'listPasskeys',
    method: 'get',
    path: '/api/v1/passkeys',
    summary: 'List the account’s passkeys',
    answers: [jsonAnswer(200, 'The whole list, the oldest first.', PasskeyList)],
    handle: async (c) => {
      const ask = () => directoryOf(c.env).passkeys(c.var.caller.sub);
      const items = (await reach<StoredPasskey[]>(ask)).map(shownPasskey);
      return c.json({ items } satisfies PasskeyList);
    },
  },
  {
    ...PEOPLE,
    id: 'addPasskey',
    method: 'post',
    path: '/api/v1/passkeys',
    summary: 'Add a passkey',
    description:
      'It can let any browser into the account from then on, until it is removed: also after the session that added it has ended. Adding the same one again changes nothing.',
    body: {
      schema: NewPasskey,
      example: {
        credentialId: EXAMPLE_ID,
        origin: 'https://drawbridge.example.com',
        name: 'Ana’s phone',
        publicKey: PUBLIC_KEY,
      },
    },
    answers: [{ status: 204, description: 'The account has it.' }],
    handle: async (c) => {
      const { credentialId: id, origin, name, publicKey: key } = await parseBody(c, NewPasskey);
      const { sub: account } = c.var.caller;
      unwrap(await directoryOf(c.env).addPasskey({ id, account, name, key, origin }));
      await record(c, account, { action: 'passkey_added', subject: name });
      return c.body(null, 204);
    },
  },
  {
    ...PEOPLE,
    id: 'removePasskey',
    method: 'delete',
    path: '/api/v1/passkeys/{id}',
    summary: 'Remove a passkey',
    description: 'The sessions that it has let in stay: end them by themselves.',
    params: PASSKEY,
    answers: [{ status: 204, description: 'The account has no such passkey now.' }],
    handle: async (c) => {
      const id = parseId(CredentialId, c.req.param('id'), 'passkey');
      const { sub: account } = c.var.caller;
      const remove = () => directoryOf(c.env).removePasskey(account, id);
      const removed = await reach<StoredPasskey | null>(remove);
      if (removed) {
        await record(c, account, { action: 'passkey_removed', subject: removed.name });
      }
      return c.body(null, 204);
    },
  },
  {
    ...STRANGERS,
    id: 'loginByPasskey',
    method: 'post',
    path: '/api/v1/passkeys/login',
    summary: 'Approve a login by a passkey of its own person',
    description:
      'In place of a person at another device. `POST /api/v1/sessions` with the same secret then gets in.',
    body: {
      schema: PasskeyLogin,
      example: {
        secret: `dbl_${'x'.repeat(43)}`,
        credentialId: EXAMPLE_ID,
        signature: {
          authenticatorData: EXAMPLE_PART,
          clientData: EXAMPLE_PART,
          value: EXAMPLE_PART,
        },
      },
    },
    answers: [{ status: 204, description: 'The login is approved.' }],
    errors: ['PASSKEY_REFUSED', 'ENTRY_ENDED', 'RATE_LIMITED', 'UNAVAILABLE'],
    handle: async (c) => {
      const { secret, credentialId, signature } = await parseBody(c, PasskeyLogin);
      limitStranger(c, secret);
      const find = () => directoryOf(c.env).passkey(credentialId);
      const passkey = await reach<StoredPasskey | null>(find);
      if (!passkey)
        throw refused('This passkey does not sign in here: it was removed, or only approves calls');
      const { id, account, name, key: publicKey, origin } = passkey;
      if (!(await isSignedByPasskey(loginText(secret), { publicKey, origin }, signature))) {
        throw refused('The passkey has not signed this login, or on another page');
      }
      const hash = await entryHash(secret);
      const approve = () => directoryOf(c.env).approveByPasskey(hash, { id, account });
      unwrap(await reach<Outcome<void>>(approve));
      await record(c, account, { action: 'passkey_used', subject: name });
      return c.body(null, 204);
    },
  },
];

function refused(message: string): DrawbridgeError {
  return new DrawbridgeError('PASSKEY_REFUSED', message);
}

/** As its account sees it: without its key. */
export function shownPasskey({ id, name, origin, madeMs, usedMs }: StoredPasskey): Passkey {
  const created = new Date(madeMs).toISOString();
  const lastUsed = usedMs === undefined ? null : new Date(usedMs).toISOString();
  return { credentialId: id, name, origin, created, lastUsed };
}
