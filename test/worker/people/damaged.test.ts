/** An account whose own database is damaged, and what deleted accounts have left behind. */
import { abortAllDurableObjects, runInDurableObject, SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import type * as z from 'zod';
import { Health } from '../../../shared/api/answers.ts';
import { Account } from '../../../worker/account/object.ts';
import { accountOf, conversationOf, tunnelOf } from '../../../worker/objects.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { look, operate, pathOf, remove, runAlarms, setState } from './accounts.ts';
import { newAccount, SERVER } from './people.ts';

const MALFORMED = 'database disk image is malformed: SQLITE_CORRUPT';
const NOTHING = { conversations: 0, bridges: 0, sessions: 0 };

async function furnished() {
  scriptModel(() => ({ text: 'A secret answer.' }));
  const account = newAccount();
  const { bridgeId } = await connectBridge({ account });
  const { conversationId } = await chat('first words', { account });
  return { account, bridgeId, conversationId };
}

async function tablesOf(stub: DurableObjectStub): Promise<number> {
  return await runInDurableObject(
    stub,
    (_, { storage: { sql } }) =>
      sql
        .exec("select name from sqlite_master where name not like '\\_cf\\_%' escape '\\'")
        .toArray().length,
  );
}

/** Keeps the account from reading these tables, as damaged pages do. */
async function damage(account: string, ...tables: readonly string[]): Promise<void> {
  await runInDurableObject(accountOf(env, account), (_, { storage: { sql } }) => {
    for (const table of tables) sql.exec(`alter table ${table} rename to lost_${table}`);
  });
  await abortAllDurableObjects();
}

/** Has the account fail as on a damaged file: test/flow/damaged.deep.ts damages real ones. */
function failing(method: 'standing' | 'changeState') {
  const spy = vi.spyOn(Account.prototype, method);
  spy.mockImplementation(() => {
    throw new Error(MALFORMED);
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}

async function healthOf(): Promise<z.infer<typeof Health>> {
  const response = await SELF.fetch(`${SERVER.url}/health`);
  expect(response.status).toBe(200);
  return Health.parse(await response.json());
}

describe('an account whose database is damaged', () => {
  it('is shown as damaged, and counted', async () => {
    const { account } = await furnished();
    const lines = vi.spyOn(console, 'error').mockImplementation(() => {});
    const before = (await healthOf()).damaged;
    {
      using _ = failing('standing');
      const shown = { state: 'damaged', has: NOTHING, deleted: { ...NOTHING, failed: 0 } };
      expect(await look(account)).toEqual({ account, since: null, ...shown });
      await look(account);
    }
    expect(await healthOf()).toEqual({ status: 'ok', damaged: before + 1 });
    const noted = lines.mock.calls.map(([line]) => JSON.parse(String(line)));
    lines.mockRestore();
    const object = String(env.ACCOUNTS.idFromName(account));
    expect(noted).toMatchObject(
      [1, 2].map(() => ({ event: 'storage_damaged', account, object, message: MALFORMED })),
    );
    expect(await look(account)).toMatchObject({ state: 'active' });
  });

  it('is deleted with what its lists still tell, and its ways in', async () => {
    const { account, bridgeId, conversationId } = await furnished();
    {
      using _ = failing('changeState');
      expect(await remove(account)).toMatchObject({
        state: 'deleting',
        has: { conversations: 1, bridges: 1 },
      });
    }
    await runAlarms(account);
    expect(await look(account)).toMatchObject({
      state: 'deleted',
      has: NOTHING,
      deleted: { conversations: 1, bridges: 1, failed: 0 },
    });
    expect(await tablesOf(conversationOf(env, { conversationId }))).toBe(0);
    expect(await tablesOf(tunnelOf(env, bridgeId))).toBe(0);
    const change = { account, method: 'PATCH', body: { deleteAfterHours: null } };
    expect(await errorOf(await call('me', change))).toMatchObject({ code: 'ACCOUNT_DELETED' });
  });

  it('is deleted by what can be read of its lists', async () => {
    const { account, bridgeId, conversationId } = await furnished();
    await damage(account, 'conversations', 'unlisted');
    {
      using _ = failing('changeState');
      await remove(account);
    }
    await runAlarms(account);
    expect(await look(account)).toMatchObject({ state: 'deleted', deleted: { bridges: 1 } });
    expect(await tablesOf(tunnelOf(env, bridgeId))).toBe(0);
    // The rest is what it has left behind.
    expect(await tablesOf(conversationOf(env, { conversationId }))).not.toBe(0);
    expect(await sweep({ conversationId })).toMatchObject({ left: 1 });
    await runAlarms(account);
    expect(await tablesOf(conversationOf(env, { conversationId }))).toBe(0);
  });

  it('is still refused to people, and to others than the operator', async () => {
    const { account } = await furnished();
    using _ = failing('standing');
    expect((await operate(pathOf(account), 'PATCH', { state: 'suspended' })).status).toBe(500);
    expect((await call(pathOf(account), { account })).status).not.toBe(200);
  });
});

/** As the server does after its start, with the names of the files. */
async function sweep(files: { conversationId?: string; bridgeId?: string }) {
  const { conversationId, bridgeId } = files;
  const response = await operate('operator/left', 'POST', {
    conversations: conversationId ? [String(env.CONVERSATIONS.idFromName(conversationId))] : [],
    bridges: bridgeId ? [String(env.TUNNELS.idFromName(bridgeId))] : [],
  });
  expect(response.status).toBe(200);
  return await response.json<{ deletions: number; left: number }>();
}

/** Deletes the account, which has lost sight of what it has, as after a crash in the middle of a fork. */
async function forgetAndRemove(account: string): Promise<void> {
  await runInDurableObject(accountOf(env, account), (_, { storage: { sql } }) => {
    for (const table of ['conversations', 'unlisted', 'bridges']) sql.exec(`delete from ${table}`);
  });
  await remove(account);
  await runAlarms(account);
}

describe('what a deleted account has left behind', () => {
  it('is deleted, and nothing is left', async () => {
    const { account, bridgeId, conversationId } = await furnished();
    await forgetAndRemove(account);
    expect(await tablesOf(conversationOf(env, { conversationId }))).not.toBe(0);
    expect(await sweep({ conversationId, bridgeId })).toMatchObject({ left: 2 });
    await runAlarms(account);
    expect(await tablesOf(conversationOf(env, { conversationId }))).toBe(0);
    expect(await tablesOf(tunnelOf(env, bridgeId))).toBe(0);
    expect(await sweep({ conversationId, bridgeId })).toMatchObject({ left: 0 });
    expect(await look(account)).toMatchObject({ state: 'deleted', has: NOTHING });
  });

  it('stays while its account lives, is suspended, or has begun anew', async () => {
    const living = await furnished();
    const suspended = await furnished();
    await setState(suspended.account, 'suspended');
    const anew = await furnished();
    await forgetAndRemove(anew.account);
    await setState(anew.account, 'active');
    for (const { account, bridgeId, conversationId } of [living, suspended, anew]) {
      expect(await sweep({ conversationId, bridgeId })).toMatchObject({ left: 0 });
      await runAlarms(account);
      expect(await tablesOf(conversationOf(env, { conversationId }))).not.toBe(0);
      expect(await tablesOf(tunnelOf(env, bridgeId))).not.toBe(0);
    }
  });

  it.each(['an account that is damaged', 'an account that does not answer'])(
    'stays where it is unsure: %s',
    async (why) => {
      const { account, conversationId } = await furnished();
      await forgetAndRemove(account);
      const left = vi.spyOn(Account.prototype, 'left');
      left.mockImplementation(() => {
        const reset = Object.assign(new Error('Network connection lost.'), { retryable: true });
        throw why.includes('damaged') ? new Error(MALFORMED) : reset;
      });
      const lines = vi.spyOn(console, 'error').mockImplementation(() => {});
      expect(await sweep({ conversationId })).toMatchObject({ left: 0 });
      lines.mockRestore();
      left.mockRestore();
      await runAlarms(account);
      expect(await tablesOf(conversationOf(env, { conversationId }))).not.toBe(0);
      expect(await sweep({ conversationId })).toMatchObject({ left: 1 });
    },
  );

  it('is nothing that another object says of itself, and no file without an object', async () => {
    const { account, conversationId } = await furnished();
    await forgetAndRemove(account);
    const other = await furnished();
    await runInDurableObject(
      conversationOf(env, { conversationId: other.conversationId }),
      (_, { storage: { sql } }) => sql.exec('update conversation set owner = ?', account),
    );
    await runInDurableObject(
      conversationOf(env, { conversationId: other.conversationId }),
      (_, { storage: { sql } }) => sql.exec('update conversation set id = ?', conversationId),
    );
    await abortAllDurableObjects();
    expect(await sweep({ conversationId: other.conversationId })).toMatchObject({ left: 0 });
    const nothing = { conversations: ['0'.repeat(64)], bridges: ['f'.repeat(64)] };
    const report = await (await operate('operator/left', 'POST', nothing)).json();
    expect(report).toMatchObject({ left: 0 });
    const many = { conversations: Array.from({ length: 21 }, () => '0'.repeat(64)) };
    expect((await operate('operator/left', 'POST', many)).status).toBe(400);
    expect((await operate('operator/left', 'POST', { accounts: [] })).status).toBe(400);
    expect((await call('operator/left', { account, body: {} })).status).toBe(403);
  });
});
