import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { enter, newSessionKey, sessionTokens } from '../../../client/index.ts';
import { SESSION_KEEPING } from '../../../worker/account/limits.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import { accountOf, conversationOf, tunnelOf } from '../../../worker/objects.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { holdModel, textFrame } from '../conversation/held-model.ts';
import { connectBridge, requestBridge } from '../tunnel/scripted-bridge.ts';
import { look, operate, pathOf, remove, runAlarms, setState } from './accounts.ts';
import { clientOf, clientWith, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const DELETED = { status: 403, code: 'ACCOUNT_DELETED' };
const HOLDER = { name: 'laptop', kind: 'machine' } as const;

async function tablesOf(stub: DurableObjectStub): Promise<unknown[]> {
  return await runInDurableObject(stub, (_, { storage: { sql } }) =>
    sql
      .exec("select name from sqlite_master where name not like '\\_cf\\_%' escape '\\'")
      .toArray(),
  );
}

/** An account with two conversations, a bridge and a session. */
async function furnished() {
  scriptModel(() => ({ text: 'A secret answer.' }));
  const kept = await signIn(newAccount());
  const { account } = kept;
  const bridge = await connectBridge({ account });
  const conversations = [];
  for (const text of ['first words', 'second words']) {
    conversations.push((await chat(text, { account })).conversationId);
  }
  return { kept, account, bridge, conversations };
}

it('an account is deleted with all that it has, and says what that was', async () => {
  const { kept, account, bridge, conversations } = await furnished();
  const { secret } = await (await clientOf(account)).createInvitation();
  expect(await remove(account)).toMatchObject({
    state: 'deleting',
    has: { conversations: 2, bridges: 1, sessions: 1 },
  });
  await runAlarms(account);
  expect(await look(account)).toEqual({
    account,
    state: 'deleted',
    since: expect.any(String),
    has: { conversations: 0, bridges: 0, sessions: 0 },
    deleted: { conversations: 2, bridges: 1, sessions: 1, failed: 0 },
  });
  for (const conversationId of conversations) {
    expect(await tablesOf(conversationOf(env, { conversationId }))).toEqual([]);
  }
  expect(await bridge.next('goodbye')).toMatchObject({ code: 'ACCOUNT_DELETED' });
  expect(await tablesOf(tunnelOf(env, bridge.bridgeId))).toEqual([]);
  const left = await runInDurableObject(accountOf(env, account), (_, { storage: { sql } }) =>
    ['conversations', 'bridges', 'sessions', 'usage', 'records', 'unlisted', 'settings'].map(
      (table) => sql.exec<{ n: number }>(`select count(*) as n from ${table}`).one().n,
    ),
  );
  expect(left).toEqual([0, 0, 0, 0, 0, 0, 0]);
  // Neither the session, nor its token, nor another one gets in, nor does the invitation.
  const change = { account, method: 'PATCH', body: { deleteAfterHours: null } };
  expect(await errorOf(await call('me', change))).toMatchObject(DELETED);
  await expect.poll(async () => (await call('me', { account })).status).toBe(403);
  await expectRefused(sessionTokens(SERVER, kept)(undefined, undefined), 'SESSION_ENDED');
  await expectRefused(enter(SERVER, secret, HOLDER, await newSessionKey()), 'ENTRY_ENDED');
  expect((await requestBridge({ account, bridgeId: bridge.bridgeId })).status).toBe(403);
  const records = await (await operate('operator/records')).text();
  expect(records).toContain(`"action":"account_deleted","subject":"${account}"`);
});

it('deleting twice is one deletion, also afterwards', async () => {
  const { account } = await furnished();
  const first = await remove(account);
  expect(await remove(account)).toMatchObject({ state: 'deleting', since: first.since });
  await runAlarms(account);
  const deleted = await look(account);
  expect(await remove(account)).toEqual(deleted);
  await runAlarms(account);
  expect(await look(account)).toEqual(deleted);
});

it('a deletion goes on after a crash in the middle', async () => {
  const { account, conversations } = await furnished();
  const erase = Conversation.prototype.delete;
  const erased = vi.spyOn(Conversation.prototype, 'delete');
  let isFirst = true;
  erased.mockImplementation(async function (this: Conversation, ...args) {
    if (isFirst) isFirst = false;
    else await scheduler.wait(60_000); // Until the crash.
    return await erase.apply(this, args);
  });
  await remove(account);
  const cut = runDurableObjectAlarm(accountOf(env, account)).catch(() => undefined);
  await vi.waitFor(() => expect(erased).toHaveBeenCalledTimes(2));
  await abortAllDurableObjects();
  await cut;
  erased.mockRestore();
  expect((await look(account)).state).toBe('deleting');
  await runAlarms(account);
  expect(await look(account)).toMatchObject({
    state: 'deleted',
    has: { conversations: 0, bridges: 0, sessions: 0 },
    deleted: { conversations: 2, bridges: 1, sessions: 1, failed: 0 },
  });
  for (const conversationId of conversations) {
    expect(await tablesOf(conversationOf(env, { conversationId }))).toEqual([]);
  }
});

it('an answer under way ends, and what it reports late brings nothing back', async () => {
  const model = holdModel();
  const account = newAccount();
  const answer = call('chat/completions', {
    account,
    body: { messages: [{ role: 'user', content: 'hello' }], stream: true },
  });
  const reply = await model.next();
  reply.send(textFrame('one'));
  const response = await answer;
  await remove(account);
  await runAlarms(account);
  await reply.untilAborted();
  await response.text();
  expect(await look(account)).toMatchObject({
    state: 'deleted',
    has: { conversations: 0 },
    deleted: { conversations: 1 },
  });
});

it('a message that was on its way when its account was deleted leaves nothing', async () => {
  const { account, conversations } = await furnished();
  const [conversationId = ''] = conversations;
  await remove(account);
  await runAlarms(account);
  const { id, created, updated } = {
    id: conversationId,
    created: Date.now(),
    updated: Date.now(),
  };
  const listed = {
    id,
    title: 'Late',
    archived: false,
    isRunning: false,
    hasSubagents: false,
    bridgeId: null,
  };
  await accountOf(env, account).begin({ ...listed, createdMs: created, updatedMs: updated });
  expect((await look(account)).has.conversations).toBe(1);
  await runAlarms(account);
  expect(await look(account)).toMatchObject({ state: 'deleted', has: { conversations: 0 } });
});

it('a conversation whose storage cannot be opened is passed over, and counted', async () => {
  const { account, conversations } = await furnished();
  const [conversationId = ''] = conversations;
  const stub = conversationOf(env, { conversationId });
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    sql.exec('update schema_version set version = version + 1'); // As a newer version does.
  });
  await abortAllDurableObjects();
  await remove(account);
  let tries = 0;
  while (tries <= 2 * SESSION_KEEPING.maxCutTries && (await look(account)).state === 'deleting') {
    await runDurableObjectAlarm(accountOf(env, account));
    tries++;
  }
  expect(await look(account)).toMatchObject({
    state: 'deleted',
    deleted: { conversations: 1, bridges: 1, failed: 1 },
  });
});

it('the bridge of another account is not deleted with a guest', async () => {
  const [owner, guest] = [newAccount(), newAccount()];
  const bridge = await connectBridge({ account: owner });
  await signIn(guest);
  await accountOf(env, guest).bridgeShared(bridge.bridgeId);
  await remove(guest);
  await runAlarms(guest);
  expect((await look(guest)).deleted.bridges).toBe(0);
  expect((await (await clientOf(owner)).listBridges()).items).toMatchObject([
    { id: bridge.bridgeId, connected: true },
  ]);
});

it('a deleted account begins anew when it is resumed', async () => {
  const { kept, account, conversations } = await furnished();
  await remove(account);
  expect(await errorOf(await operate(pathOf(account), 'PATCH', { state: 'active' }))).toMatchObject(
    DELETED,
  );
  await runAlarms(account);
  expect(
    await errorOf(await operate(pathOf(account), 'PATCH', { state: 'suspended' })),
  ).toMatchObject(DELETED);
  expect(await setState(account, 'active')).toMatchObject({
    state: 'active',
    deleted: { conversations: 0 },
  });
  const client = await clientOf(account);
  expect(await client.listConversations()).toMatchObject({ items: [] });
  await expect(client.getConversation(conversations[0] ?? '')).rejects.toMatchObject({
    status: 404,
  });
  await expectRefused(clientWith(kept).getMe(), 'SESSION_ENDED');
  const messages = [{ role: 'user' as const, content: 'hello' }];
  expect((await client.chat({ messages })).status).toBe('completed');
});

it('a suspended account can be deleted', async () => {
  const { account } = await furnished();
  await setState(account, 'suspended');
  await runAlarms(account);
  await remove(account);
  await runAlarms(account);
  expect(await look(account)).toMatchObject({ state: 'deleted', deleted: { conversations: 2 } });
});
