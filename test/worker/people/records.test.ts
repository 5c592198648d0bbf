import { runInDurableObject, SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { beginLogin, enter, newSessionKey } from '../../../client/index.ts';
import type { ActRecordList } from '../../../shared/api/records.ts';
import { newBridgeId } from '../../../shared/ids.ts';
import { accountOf } from '../../../worker/objects.ts';
import { addRecord, RECORD_KEEPING } from '../../../worker/storage/records.ts';
import { call, errorOf, scriptModel, tokenFor } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { operate } from './accounts.ts';
import { clientOf, clientWith, newAccount, SERVER, signIn } from './people.ts';

const MESSAGE = { messages: [{ role: 'user' as const, content: 'a word that no record has' }] };

async function actsOf(account: string) {
  const { items } = await (await clientOf(account)).listRecords();
  return items.map(({ session, action, subject }) => [session, action, subject]);
}

it('a session that gets in and ends is recorded, with the session that did it', async () => {
  const account = newAccount();
  const laptop = await signIn(account, { name: 'laptop' });
  const { id, secret } = await clientWith(laptop).createInvitation();
  const signer = await newSessionKey();
  const phone = await enter(SERVER, secret, { name: 'phone', kind: 'browser' }, signer);
  await enter(SERVER, secret, { name: 'phone', kind: 'browser' }, signer);
  await clientWith(laptop).endSession(phone.session);
  await clientWith(laptop).endSession(phone.session);
  expect(await actsOf(account)).toEqual([
    [laptop.session, 'session_ended', phone.session],
    [laptop.session, 'signed_in', `${phone.session} phone`],
    [laptop.session, 'invitation_created', id],
    [null, 'signed_in', `${laptop.session} laptop`],
    [null, 'invitation_created', expect.any(String)],
  ]);
});

it('a revoked invitation is recorded once, by whom, also when an operator revoked it', async () => {
  const account = newAccount();
  const laptop = await signIn(account, { name: 'laptop' });
  const [own, theirs] = [
    await clientWith(laptop).createInvitation(),
    await clientWith(laptop).createInvitation(),
  ];
  await clientWith(laptop).revokeInvitation(own.id);
  await clientWith(laptop).revokeInvitation(own.id);
  await operate(`operator/invitations/${theirs.id}`, 'DELETE');
  expect((await actsOf(account)).slice(0, 2)).toEqual([
    [null, 'invitation_revoked', theirs.id],
    [laptop.session, 'invitation_revoked', own.id],
  ]);
});

it('a decision on a login is recorded', async () => {
  const account = newAccount();
  const laptop = await signIn(account, { name: 'laptop' });
  for (const decision of ['approve', 'refuse'] as const) {
    const signer = await newSessionKey();
    const { code } = await beginLogin(SERVER, { name: 'desk', kind: 'machine' }, signer);
    await clientWith(laptop).decideLogin(code, { decision, key: signer.publicKey });
  }
  expect((await actsOf(account)).slice(0, 2)).toEqual([
    [laptop.session, 'login_refused', 'desk'],
    [laptop.session, 'login_approved', 'desk'],
  ]);
});

it('an export and a deletion are recorded once each, without a word of the conversation', async () => {
  scriptModel(() => ({ text: 'An answer that no record has.' }));
  const account = newAccount();
  const kept = await signIn(account);
  const client = clientWith(kept);
  const { conversationId } = await client.chat(MESSAGE);
  await client.exportConversation(conversationId);
  await client.exportMarkdown(conversationId);
  await client.deleteConversation(conversationId);
  await expect(client.deleteConversation(conversationId)).rejects.toMatchObject({ status: 404 });
  await expect(client.exportMarkdown(conversationId)).rejects.toMatchObject({ status: 404 });
  const records = await client.listRecords();
  expect((await actsOf(account)).slice(0, 3)).toEqual([
    [kept.session, 'conversation_deleted', conversationId],
    [kept.session, 'conversation_exported', conversationId],
    [kept.session, 'conversation_exported', conversationId],
  ]);
  expect(JSON.stringify(records)).not.toMatch(/that no record has/);
});

it('a bridge is recorded when it first connects, and when another process takes its place', async () => {
  const account = newAccount();
  const bridgeId = newBridgeId(crypto.randomUUID());
  await connectBridge({ account, bridgeId });
  await connectBridge({ account, bridgeId });
  expect(await actsOf(account)).toEqual([
    [null, 'bridge_replaced', bridgeId],
    [null, 'bridge_added', bridgeId],
  ]);
});

it('what operators do to keys is recorded for operators alone, without secrets', async () => {
  const id = `shop-${crypto.randomUUID().slice(0, 8)}`;
  const operator = await tokenFor({ account: 'operator', claims: { scope: 'operator' } });
  const operate = async (path: string, method = 'GET', body?: object) =>
    await SELF.fetch(`${SERVER.url}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${operator}` },
      ...(body && { body: JSON.stringify(body) }),
    });
  const { secret } = await (await operate('keys', 'POST', { id })).json<{ secret: string }>();
  await operate('keys', 'POST', { id });
  await operate(`keys/${id}`, 'PUT', { can: ['read'], origins: [], models: [] });
  await operate(`keys/${id}/secret`, 'POST');
  await operate(`keys/${id}`, 'DELETE');
  await operate(`keys/${id}`, 'DELETE');
  const text = await (await operate('operator/records')).text();
  const { items }: ActRecordList = JSON.parse(text);
  const acts = items.filter(({ subject }) => subject === id).map(({ action }) => action);
  expect(acts).toEqual(['key_deleted', 'key_renewed', 'key_changed', 'key_created']);
  expect(text).not.toContain(secret);
  const refused = await call('operator/records', { account: newAccount() });
  expect(await errorOf(refused)).toMatchObject({ code: 'FORBIDDEN' });
});

it('the list comes in pages that neither repeat nor miss one, and keeps the newest', async () => {
  const account = newAccount();
  const stub = accountOf(env, account);
  await stub.record({ action: 'bridge_added', subject: '0' });
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    for (let at = 1; at <= RECORD_KEEPING.kept + 2; at++) {
      addRecord(sql, { action: 'bridge_added', subject: String(at) }, at);
    }
  });
  const client = await clientOf(account);
  const subjects: string[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await client.listRecords({ limit: 999, cursor });
    subjects.push(...items.map(({ subject }) => subject));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  const newest = RECORD_KEEPING.kept + 2;
  expect(subjects).toEqual(
    Array.from({ length: RECORD_KEEPING.kept }, (_, index) => String(newest - index)),
  );
});

it('reading the records of an account that never did anything stores nothing', async () => {
  const account = newAccount();
  expect(await actsOf(account)).toEqual([]);
  const tables = await runInDurableObject(accountOf(env, account), (_, { storage: { sql } }) =>
    sql
      .exec("select name from sqlite_master where name not like '\\_cf\\_%' escape '\\'")
      .toArray(),
  );
  expect(tables).toEqual([]);
});

it.each(['x', '-1', '1e3', '9'.repeat(16), ''])('the cursor "%s" is refused', async (cursor) => {
  const answer = await call(`records?cursor=${cursor}`, { account: newAccount() });
  expect(await errorOf(answer)).toMatchObject({ status: 400, code: 'INVALID_CURSOR' });
});

it.each(['0', '1001', 'x', '1.5'])('a page of %s records is refused', async (limit) => {
  const answer = await call(`records?limit=${limit}`, { account: newAccount() });
  expect(await errorOf(answer)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
});
