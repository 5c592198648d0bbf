/** What clients and the operator learn when SQLite cannot read an object's file, or has no room for it. */
import { expect, it, vi } from 'vitest';
import { isPassing } from '../../client/error.ts';
import { ClientError } from '../../client/index.ts';
import { Account } from '../../worker/account/object.ts';
import { Conversation } from '../../worker/conversation/object.ts';
import { ask, call, chat, errorOf, scriptModel } from './api.ts';
import { newAccount } from './conversation/conversing.ts';

const MALFORMED = 'database disk image is malformed: SQLITE_CORRUPT';
const NO_DATABASE = 'file is not a database: SQLITE_NOTADB';
const FULL = 'database or disk is full: SQLITE_FULL';

type Place = [(to: Sent) => Promise<Response>, typeof Conversation | typeof Account, string];

interface Sent {
  readonly account: string;
  readonly id: string;
  readonly conversationId: string;
}

/** Requests, and the method of the object that they reach. */
const PLACES: Readonly<Record<string, Place>> = {
  'a conversation': [
    ({ account, conversationId }) => call(`conversations/${conversationId}`, { account }),
    Conversation,
    'fetch',
  ],
  'a response': [
    ({ account, id }) => call(`chat/completions/${id}`, { account }),
    Conversation,
    'fetch',
  ],
  'a stream': [
    ({ account, id }) => call(`chat/completions/${id}/events`, { account }),
    Conversation,
    'fetch',
  ],
  'a message': [
    ({ account, conversationId }) => ask('more', { account, conversationId }),
    Conversation,
    'submit',
  ],
  'a new conversation': [({ account }) => ask('new', { account }), Conversation, 'submit'],
  'a fork': [
    ({ account, id, conversationId }) =>
      call(`conversations/${conversationId}/forks`, { account, body: { responseId: id } }),
    Conversation,
    'forkPage',
  ],
  'any request of its account': [
    ({ account }) => call('me', { account, method: 'PATCH', body: { deleteAfterHours: 24 } }),
    Account,
    'refusal',
  ],
  'the list of its account': [({ account }) => call('conversations', { account }), Account, 'list'],
};

it.each(
  Object.keys(PLACES).flatMap((place) => [
    [place, MALFORMED, 500, 'DAMAGED'] as const,
    [place, NO_DATABASE, 500, 'DAMAGED'] as const,
    [place, FULL, 507, 'STORAGE_FULL'] as const,
  ]),
)('%s answers %s with %i %s', async (place, message, status, code) => {
  const found = PLACES[place];
  if (!found) throw new Error(place);
  const [send, { prototype }, method] = found;
  scriptModel(() => ({ text: 'hi' }));
  const account = newAccount();
  const { id, conversationId } = await chat('first', { account });
  const failing = vi.spyOn(prototype as unknown as Record<string, () => unknown>, method);
  failing.mockImplementation(() => {
    throw new Error(message);
  });
  const error = await errorOf(await send({ account, id, conversationId }));
  failing.mockRestore();
  expect(error).toMatchObject({ status, code });
  expect(String(error.message)).not.toContain('can be sent again');
  expect(isPassing(new ClientError(code, '', { status }))).toBe(code === 'STORAGE_FULL');
});

it('the log names what is damaged', async () => {
  const lines = vi.spyOn(console, 'error').mockImplementation(() => {});
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('first', { account });
  const failing = vi.spyOn(Conversation.prototype, 'fetch').mockImplementation(() => {
    throw new Error(MALFORMED);
  });
  await call(`conversations/${conversationId}`, { account });
  failing.mockRestore();
  const noted = lines.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(noted.filter(({ event }) => event === 'storage_damaged')).toMatchObject([
    { account, conversation: conversationId, message: MALFORMED },
  ]);
});
