import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { MIGRATIONS } from '../../../worker/conversation/store/schema.ts';
import { migrate, NEWER_TABLES } from '../../../worker/storage/migrations.ts';
import { ask, call, chat, scriptModel } from '../api.ts';
import { conversationObject } from '../conversation/conversing.ts';
import { connectBridge, tunnelOf } from '../tunnel/scripted-bridge.ts';

const REFUSED = {
  error: { code: 'NOT_CONFIGURED', message: NEWER_TABLES, traceId: expect.any(String) },
};

it('refuses every request to a conversation with newer tables in one sentence', async () => {
  scriptModel(() => ({ text: 'Yes.' }));
  const { conversationId } = await chat('Is this kept?');
  await becomeNewer(conversationObject(conversationId));
  const path = `conversations/${conversationId}`;
  for (const response of [
    await call(path),
    await call(`${path}/events`),
    await ask('Another', { conversationId }),
    await call(path, { method: 'PATCH', body: { title: 'New' } }),
    await call(path, { method: 'DELETE' }),
  ]) {
    expect([response.status, await response.json()]).toEqual([500, REFUSED]);
  }
});

it('refuses requests to an account and to a bridge with newer tables', async () => {
  const { bridgeId } = await connectBridge();
  await becomeNewer(tunnelOf(bridgeId));
  expect(await (await call(`bridges/${bridgeId}`)).json()).toEqual(REFUSED);
  await becomeNewer(env.ACCOUNTS.get(env.ACCOUNTS.idFromName('ada')));
  expect(await (await call('conversations')).json()).toEqual(REFUSED);
});

it('leaves newer tables as they are: their own version goes on with them', async () => {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    const newer = [...MIGRATIONS, 'create table later (id integer primary key);'];
    migrate(sql, newer);
    expect(() => migrate(sql, MIGRATIONS)).toThrow(NEWER_TABLES);
    migrate(sql, newer); // Would create the table a second time if the version had been set back.
    expect(sql.exec('select version from schema_version').one()).toEqual({ version: newer.length });
  });
});

/** As after a migration that this program does not know. */
async function becomeNewer(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    sql.exec('update schema_version set version = version + 1');
  });
  await abortAllDurableObjects();
}
