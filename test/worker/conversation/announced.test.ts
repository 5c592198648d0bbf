/**
 * What a conversation stores and then reports to its account, cut between the two: each cut with each of what can come
 * next.
 */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import type { ConversationList } from '../../../shared/api/conversations.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { conversationIdOf } from '../../../shared/wire/derived-id.ts';
import { Account } from '../../../worker/account/object.ts';
import { accountOf } from '../../../worker/objects.ts';
import { ask, call, chat, scriptModel } from '../api.ts';
import { look, remove, runAlarms } from '../people/accounts.ts';
import { openBridge } from '../tunnel/scripted-bridge.ts';
import { conversationObject, newAccount, readView, tablesOf } from './conversing.ts';

const WORD = 'okapi';

/** The moments of a fork at which its object dies. */
const FORK_CUTS: Readonly<Record<string, (cut: Cut) => Promise<void>>> = {
  'between two pages': async ({ account, conversationId, send }) => {
    await (await send()).text();
    await runInDurableObject(conversationObject(conversationId), async (_, state) => {
      state.storage.sql.exec('delete from conversation');
      await state.storage.setAlarm(Date.now() + CONVERSATION_LIMITS.maxCopyMs);
    });
    await evictDurableObject(conversationObject(conversationId));
    await accountOf(env, account).forget(conversationId);
    await accountOf(env, account).making(conversationId);
  },
  'after it is stored, before the account hears of it': (cut) => cutAt(['answered'], cut),
};

/** The moments of a first message. */
const MESSAGE_CUTS = {
  'before its account hears of it': ['begin', 'answered'],
  'at the end of its answer': ['answered'],
} as const;

/** What comes next. Each looks at what it leaves. */
const NEXT: Readonly<Record<string, (cut: Cut) => Promise<void>>> = {
  'the same request': async (cut) => {
    expect((await cut.send()).ok).toBe(true);
    await expectListed(cut);
  },
  'its alarm': async (cut) => {
    await runDurableObjectAlarm(conversationObject(cut.conversationId));
    const isThere = (await tablesOf(cut.conversationId)).length > 0;
    if (isThere) await expectListed(cut);
    else expect(await found(cut.account)).not.toContain(cut.conversationId);
  },
  'the deletion of its account': async (cut) => {
    await remove(cut.account);
    await runAlarms(cut.account);
    expect(await tablesOf(cut.conversationId)).toEqual([]);
    expect((await look(cut.account)).has.conversations).toBe(0);
  },
};

interface Cut {
  readonly account: string;
  readonly conversationId: string;
  /** The request that was cut, again. */
  send(): Promise<Response>;
}

describe.each(Object.keys(FORK_CUTS))('a fork cut %s', (moment) => {
  it.each(Object.keys(NEXT))('then %s', async (next) => {
    scriptModel(() => ({ text: `The ${WORD}.` }));
    const account = newAccount();
    const { id, conversationId: from } = await chat('first', { account });
    const headers = { 'idempotency-key': 'fork' };
    const body = { responseId: id };
    const send = () => call(`conversations/${from}/forks`, { account, headers, body });
    const conversationId = await conversationIdOf(account, `fork\n${id}`);
    const cut = { account, conversationId, send };
    await FORK_CUTS[moment]?.(cut);
    await NEXT[next]?.(cut);
  });
});

describe.each(Object.keys(MESSAGE_CUTS) as (keyof typeof MESSAGE_CUTS)[])(
  'a new conversation cut %s',
  (moment) => {
    it.each(Object.keys(NEXT))('then %s', async (next) => {
      scriptModel(() => ({ text: `The ${WORD}.` }));
      const account = newAccount();
      const headers = { 'idempotency-key': 'message' };
      const body = { messages: [{ role: 'user', content: 'go' }] };
      const send = () => call('chat/completions', { account, headers, body });
      const conversationId = await conversationIdOf(account, 'message');
      const cut = { account, conversationId, send };
      await cutAt(MESSAGE_CUTS[moment], cut);
      await NEXT[next]?.(cut);
    });
  },
);

it('the words of each answer are found, although the account died at the end of each', async () => {
  scriptModel((_, number) => ({ text: `answer${number}` }));
  const account = newAccount();
  const { conversationId } = await chat('go', { account });
  for (let number = 1; number < 4; number++) {
    const send = () => ask('on', { account, conversationId });
    await cutAt(['answered'], { conversationId, send });
  }
  await runDurableObjectAlarm(conversationObject(conversationId));
  const ids = await Promise.all([0, 1, 2, 3].map((number) => found(account, `answer${number}`)));
  expect(ids).toEqual(Array(4).fill([conversationId]));
  const search = await runInDurableObject(accountOf(env, account), (_, { storage: { sql } }) =>
    String(sql.exec('select search from conversations').one()['search']),
  );
  expect(search.match(/answer\d/g)).toEqual(['answer0', 'answer1', 'answer2', 'answer3']);
});

it('a fork is known to its account before anything of it is stored', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const account = newAccount();
  const { id, conversationId: from } = await chat('first', { account });
  const making = vi.spyOn(Account.prototype, 'making').mockImplementation(() => {
    throw new Error('away');
  });
  const headers = { 'idempotency-key': 'fork' };
  const send = () =>
    call(`conversations/${from}/forks`, { account, headers, body: { responseId: id } });
  expect((await send()).ok).toBe(false);
  const conversationId = await conversationIdOf(account, `fork\n${id}`);
  expect(await tablesOf(conversationId)).toEqual([]);
  making.mockRestore();
  await remove(account);
  await runAlarms(account);
  expect(await accountOf(env, account).making(conversationId)).toBe('ACCOUNT_DELETED');
});

it('an account is let in although its object was away when the bridge said hello', async () => {
  const [owner, guest] = [newAccount(), newAccount()];
  const away = vi.spyOn(Account.prototype, 'bridgeShared').mockImplementation(() => {
    throw new Error('away');
  });
  const bridge = await openBridge({ account: owner });
  await bridge.greet({ grants: [guest] });
  await vi.waitFor(() => expect(away).toHaveBeenCalled());
  away.mockRestore();
  await bridge.leave();
  const tunnel = env.TUNNELS.getByName(bridge.bridgeId);
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(tunnel);
    const known = await accountOf(env, guest).bridges();
    expect(known.map(({ id }) => id)).toEqual([bridge.bridgeId]);
  });
});

/** Sends the request while these methods of the account fail, and lets the object forget what it has not stored. */
async function cutAt(
  methods: readonly ('begin' | 'answered')[],
  { conversationId, send }: Pick<Cut, 'conversationId' | 'send'>,
): Promise<void> {
  const failing = methods.map((method) => vi.spyOn(Account.prototype, method));
  for (const method of failing) {
    method.mockImplementation(() => {
      throw new Error('cut');
    });
  }
  await (await send()).text();
  await vi.waitFor(() => failing.map((method) => expect(method).toHaveBeenCalled()));
  await evictDurableObject(conversationObject(conversationId));
  for (const method of failing) method.mockRestore();
}

/** The ids on the account's list. */
async function found(account: string, search = ''): Promise<string[]> {
  const response = await call(`conversations?search=${search}`, { account });
  return (await response.json<ConversationList>()).items.map(({ id }) => id);
}

async function expectListed({ account, conversationId }: Cut): Promise<void> {
  await vi.waitFor(async () => expect(await found(account)).toContain(conversationId));
  await vi.waitFor(async () => expect(await found(account, WORD)).toContain(conversationId));
  expect((await readView(conversationId, { account })).responses).toHaveLength(1);
}
