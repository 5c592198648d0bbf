import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import type { AccountExportLine } from '../../../shared/api/accounts.ts';
import { HOUR } from '../../../shared/units.ts';
import { accountOf, conversationOf } from '../../../worker/objects.ts';
import { fewOf } from '../../depth.ts';
import { newPasskey, PASSKEY_ORIGIN } from '../../far-ends/passkey.ts';
import { call, chat, errorOf, scriptModel, tokenFor } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { exported, operate, pathOf, remove, runAlarms, setState } from './accounts.ts';
import { clientOf, newAccount, signIn } from './people.ts';

function ofType<Type extends AccountExportLine['type']>(
  lines: readonly AccountExportLine[],
  type: Type,
): Extract<AccountExportLine, { type: Type }>[] {
  return lines.filter((line) => line.type === type) as Extract<AccountExportLine, { type: Type }>[];
}

it('all that an account has is exported, without keys and secrets', async () => {
  scriptModel(() => ({ text: 'An answer.' }));
  const kept = await signIn(newAccount(), { name: 'laptop' });
  const { account } = kept;
  const { bridgeId } = await connectBridge({ account });
  const { secret } = await (await clientOf(account)).createInvitation();
  const { key, credentialId } = await newPasskey();
  const passkey = { credentialId, origin: PASSKEY_ORIGIN, name: 'phone' };
  await (await clientOf(account)).addPasskey({ ...passkey, publicKey: key.publicKey });
  const first = await chat('first words', { account });
  await chat('more words', { account, conversationId: first.conversationId });
  const second = await chat('second words', { account });
  const archived = { archived: true };
  await (await clientOf(account)).updateConversation(second.conversationId, archived);
  const lines = await exported(account);
  expect(lines[0]).toMatchObject({ type: 'account', version: 1, account, state: 'active' });
  expect(lines.at(-1)).toEqual({ type: 'end', conversations: 2 });
  expect(ofType(lines, 'session')).toEqual([
    {
      type: 'session',
      id: kept.session,
      name: 'laptop',
      kind: 'machine',
      created: expect.any(String),
      lastUsed: expect.any(String),
    },
  ]);
  expect(ofType(lines, 'passkey')).toEqual([
    {
      type: 'passkey',
      passkey: { ...passkey, created: expect.any(String), lastUsed: null },
    },
  ]);
  expect(ofType(lines, 'bridge')).toMatchObject([{ id: bridgeId }]);
  expect(ofType(lines, 'usage')).toMatchObject([{ entry: { responses: 3 } }]);
  expect(ofType(lines, 'record').map(({ record }) => record.action)).toEqual([
    ...['account_exported', 'passkey_added', 'invitation_created'],
    ...['bridge_added', 'signed_in', 'invitation_created'],
  ]);
  const said = ofType(lines, 'conversation').map(({ conversation: { id, messages } }) => [
    id,
    ...messages.map(({ content }) => content),
  ]);
  expect(said).toHaveLength(2);
  expect(said).toContainEqual([first.conversationId, 'first words', 'more words']);
  expect(said).toContainEqual([second.conversationId, 'second words']);
  const text = JSON.stringify(lines);
  for (const hidden of [secret, kept.signer.publicKey.x, key.publicKey.x])
    expect(text).not.toContain(hidden);
});

it('a conversation of many exchanges is exported in parts, each exchange once', async () => {
  scriptModel(() => ({ text: 'word '.repeat(20_000) }));
  const account = newAccount();
  const { conversationId } = await chat('0', { account });
  const turns = fewOf(8, 4);
  for (let turn = 1; turn < turns; turn++) await chat(String(turn), { account, conversationId });
  const parts = ofType(await exported(account), 'conversation');
  const said = parts.flatMap(({ conversation }) =>
    conversation.messages.map((each) => each.content),
  );
  expect(said).toEqual(Array.from({ length: turns }, (_, turn) => String(turn)));
});

it('an account without anything but a setting has its first and its last line', async () => {
  const account = newAccount();
  await call('me', { account, method: 'PATCH', body: { deleteAfterHours: 24 } });
  expect(await exported(account)).toEqual([
    {
      type: 'account',
      version: 1,
      account,
      state: 'active',
      deleteAfterHours: 24,
      exported: expect.any(String),
    },
    { type: 'record', record: expect.objectContaining({ action: 'account_exported' }) },
    { type: 'end', conversations: 0 },
  ]);
});

it('what cannot be read is named, and the rest is there', async () => {
  scriptModel(() => ({ text: 'An answer.' }));
  const account = newAccount();
  const broken = await chat('first words', { account });
  const whole = await chat('second words', { account });
  const stub = conversationOf(env, broken);
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    sql.exec('update schema_version set version = version + 1'); // As a newer version does.
  });
  await abortAllDurableObjects();
  const lines = await exported(account);
  expect(ofType(lines, 'unreadable')).toEqual([
    {
      type: 'unreadable',
      conversationId: broken.conversationId,
      code: expect.stringMatching(/^(INTERNAL|NOT_CONFIGURED)$/),
    },
  ]);
  const [read] = ofType(lines, 'conversation');
  expect(read?.conversation.id).toBe(whole.conversationId);
  expect(lines.at(-1)).toEqual({ type: 'end', conversations: 2 });
});

it('a private conversation whose text was deleted is named', async () => {
  scriptModel(() => ({ text: 'An answer.' }));
  const account = newAccount();
  const { conversationId } = await chat('first words', { account, deleteAfterHours: 1 });
  vi.setSystemTime(Date.now() + 2 * HOUR);
  try {
    const lines = await exported(account);
    const code = 'CONTENT_DELETED';
    expect(ofType(lines, 'unreadable')).toEqual([{ type: 'unreadable', conversationId, code }]);
    expect(JSON.stringify(lines)).not.toContain('first words');
  } finally {
    vi.useRealTimers();
  }
});

it('the operator alone exports, also a suspended account, and no deleted one', async () => {
  const { account } = await signIn(newAccount());
  await setState(account, 'suspended');
  expect((await exported(account))[0]).toMatchObject({ state: 'suspended' });
  const authorization = `Bearer ${await tokenFor({ account: newAccount() })}`;
  const refused = await call(`${pathOf(account)}/export`, { headers: { authorization } });
  expect(await errorOf(refused)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  await remove(account);
  await runAlarms(account);
  expect(await errorOf(await operate(`${pathOf(account)}/export`))).toMatchObject({
    code: 'ACCOUNT_DELETED',
  });
  expect(await accountOf(env, account).records({ limit: 10, before: null })).toEqual([]);
});
