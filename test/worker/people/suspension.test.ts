import { SELF } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { type Description, operationsOf } from '../../../bench/fuzz/description.ts';
import {
  beginLogin,
  createClient,
  enter,
  newSessionKey,
  sessionTokens,
} from '../../../client/index.ts';
import { CALLS } from '../../../doors/cursor/connect/service.ts';
import { newBridgeId } from '../../../shared/ids.ts';
import { CLOSE } from '../../../shared/wire/tunnel.ts';
import { followOverSse } from '../account/account-reader.ts';
import { ask, errorOf, scriptModel, tokenFor } from '../api.ts';
import { holdModel, textFrame } from '../conversation/held-model.ts';
import { connectBridge, openBridge, requestBridge } from '../tunnel/scripted-bridge.ts';
import { look, operate, pathOf, runAlarms, setState } from './accounts.ts';
import { clientOf, clientWith, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const MESSAGE = { messages: [{ role: 'user' as const, content: 'hello' }] };
const SUSPENDED = { status: 403, code: 'ACCOUNT_SUSPENDED' };
const HOLDER = { name: 'laptop', kind: 'machine' } as const;

it('a suspended account is refused at every path, with a session and without, until that is lifted', async () => {
  const description: Description = await (await SELF.fetch(`${SERVER.url}/openapi.json`)).json();
  const kept = await signIn(newAccount());
  const { account } = kept;
  const bridgeId = newBridgeId(crypto.randomUUID());
  const of = async (bridge?: string) => [
    await sessionTokens(SERVER, kept, bridge)(undefined, undefined),
    await tokenFor({ account, claims: bridge ? { scope: 'bridge', bridge } : { scope: 'user' } }),
  ];
  const [tokens, bridgeTokens] = [await of(), await of(bridgeId)];
  await clientWith(kept).getMe();
  await setState(account, 'suspended');
  // A read trusts an answer of the last second.
  vi.setSystemTime(Date.now() + 2_000);
  const operations = operationsOf(description).filter(({ isOpen, path }) => {
    return !isOpen && !/\/(accounts|keys|operator|tokens)\b|metrics/.test(path);
  });
  const calls = [...CALLS.keys()].map((path) => ({ method: 'POST', path }));
  const letIn: string[] = [];
  for (const { method, path } of [...operations, ...calls]) {
    const isTunnel = path.endsWith('/connect');
    const address = `${SERVER.url}${path.replaceAll(/\{.*?\}/g, isTunnel ? bridgeId : 'x')}`;
    for (const token of isTunnel ? bridgeTokens : tokens) {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(isTunnel && { upgrade: 'websocket' }),
      };
      const { status } = await SELF.fetch(address, { method, headers });
      if (status !== 403) letIn.push(`${method} ${path} ${status}`);
    }
  }
  vi.useRealTimers();
  expect(operations.length).toBeGreaterThan(30);
  expect(letIn).toEqual([]);
  await setState(account, 'active');
  expect(await clientWith(kept).getMe()).toMatchObject({ account });
});

it('a suspended session gets no token, and keeps its key for later', async () => {
  const kept = await signIn(newAccount());
  await setState(kept.account, 'suspended');
  await expect(sessionTokens(SERVER, kept)(undefined, undefined)).rejects.toMatchObject(SUSPENDED);
  await setState(kept.account, 'active');
  expect(await clientWith(kept).listSessions()).toMatchObject({ items: [{ id: kept.session }] });
});

it('no device gets into a suspended account, and its invitation counts later', async () => {
  const account = newAccount();
  await signIn(account);
  const { secret } = await (await clientOf(account)).createInvitation();
  await setState(account, 'suspended');
  const signer = await newSessionKey();
  await expect(enter(SERVER, secret, HOLDER, signer)).rejects.toMatchObject(SUSPENDED);
  await setState(account, 'active');
  const made = await enter(SERVER, secret, HOLDER, signer);
  expect(await clientWith({ ...made, signer }).getMe()).toMatchObject({ account });
});

it('a user of an app is suspended alone', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const id = `shop-${crypto.randomUUID().slice(0, 8)}`;
  const { secret } = await (await operate('keys', 'POST', { id })).json<{ secret: string }>();
  const clientFor = async (user: string) => {
    const answer = await SELF.fetch(`${SERVER.url}/api/v1/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ user }),
    });
    const { token } = await answer.json<{ token: string }>();
    return createClient({ ...SERVER, token });
  };
  const [bad, good] = [await clientFor('a/b?c=%2F#u'), await clientFor('42')];
  await bad.chat(MESSAGE);
  await setState(`app:${id}:a/b?c=%2F#u`, 'suspended');
  await expect(bad.chat(MESSAGE)).rejects.toMatchObject(SUSPENDED);
  expect((await good.chat(MESSAGE)).status).toBe('completed');
  await operate(`keys/${id}`, 'DELETE');
});

it('a running answer ends, its reader is cut, and no later answer starts by itself', async () => {
  const model = holdModel();
  const account = newAccount();
  const response = await ask('hello', { account, stream: true });
  const reply = await model.next();
  reply.send(textFrame('one'));
  const reader = await followOverSse({ account });
  const readers = Promise.all([response.text(), reader.until(() => false).catch(() => undefined)]);
  const queued = await ask('and then?', { account, stream: true }).then((each) => each.status);
  expect(queued).toBe(200);
  await setState(account, 'suspended');
  await runAlarms(account);
  await reply.untilAborted();
  await readers;
  await setState(account, 'active');
  const client = await clientOf(account);
  const [info] = (await client.listConversations()).items.slice(-1);
  const { responses } = await client.getConversation(info?.id ?? '');
  expect(responses.map(({ status }) => status)).toEqual(['cancelled']);
});

it('bridges are cut, with another code than at the end of a session, and come back afterwards', async () => {
  const account = newAccount();
  const bridge = await connectBridge({ account });
  const { bridgeId } = bridge;
  const greeting = await openBridge({ account, bridgeId });
  await setState(account, 'suspended');
  await runAlarms(account);
  expect(await bridge.next('goodbye')).toMatchObject({ code: 'ACCOUNT_SUSPENDED' });
  expect([await bridge.closed, await greeting.closed]).toEqual([
    CLOSE.tokenEnded,
    CLOSE.tokenEnded,
  ]);
  expect((await requestBridge({ account, bridgeId })).status).toBe(403);
  await setState(account, 'active');
  await connectBridge({ account, bridgeId });
  expect((await (await clientOf(account)).listBridges()).items).toMatchObject([
    { id: bridgeId, connected: true },
  ]);
});

it('the bridge of another account that lets it in stays connected', async () => {
  const [owner, guest] = [newAccount(), newAccount()];
  const bridge = await connectBridge({ account: owner });
  await signIn(guest);
  await setState(guest, 'suspended');
  await runAlarms(guest);
  expect((await look(owner)).state).toBe('active');
  expect((await (await clientOf(owner)).listBridges()).items).toMatchObject([
    { id: bridge.bridgeId, connected: true },
  ]);
});

it('suspending twice is one suspension, and both sides have the records', async () => {
  const account = newAccount();
  await signIn(account);
  const first = await setState(account, 'suspended');
  expect(first).toMatchObject({ account, state: 'suspended', has: { sessions: 1 } });
  expect(await setState(account, 'suspended')).toEqual(first);
  await setState(account, 'active');
  const { items } = await (await clientOf(account)).listRecords({ limit: 3 });
  expect(items.map(({ action, subject }) => [action, subject])).toEqual([
    ['account_resumed', account],
    ['account_suspended', account],
    ['signed_in', expect.any(String)],
  ]);
  const records = await (await operate('operator/records')).text();
  expect(records).toContain(`"action":"account_suspended","subject":"${account}"`);
});

it('a session that ended while its account was suspended has ended afterwards', async () => {
  const kept = await signIn(newAccount());
  const client = clientWith(kept);
  await client.endSession(kept.session);
  await setState(kept.account, 'suspended');
  await expect(client.createInvitation()).rejects.toMatchObject(SUSPENDED);
  await setState(kept.account, 'active');
  await expectRefused(sessionTokens(SERVER, kept)(undefined, undefined), 'SESSION_ENDED');
});

it('a login that is approved before the suspension gets in only after it', async () => {
  const kept = await signIn(newAccount());
  const signer = await newSessionKey();
  const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
  await clientWith(kept).decideLogin(code, { decision: 'approve', key: signer.publicKey });
  await setState(kept.account, 'suspended');
  await expect(enter(SERVER, secret, HOLDER, signer)).rejects.toMatchObject(SUSPENDED);
  await setState(kept.account, 'active');
  expect(await enter(SERVER, secret, HOLDER, signer)).toMatchObject({ account: kept.account });
});

it.each(['nobody', '../ana', '%00', 'x'.repeat(300), 'ana\u202egnp', '👩‍💻', 'a b', '-rf'])(
  'of the account %j, which has stored nothing, the operator learns that',
  async (name) => {
    for (const [method, body] of [
      ['GET'],
      ['PATCH', { state: 'suspended' }],
      ['DELETE'],
    ] as const) {
      const answer = await operate(pathOf(name), method, body);
      expect(await errorOf(answer)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
    const answer = await operate(`${pathOf(name)}/export`);
    expect(await errorOf(answer)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  },
);

it.each(['ana\u202egnp', '👩‍💻', 'a b', '-rf', 'a/b', '%2e%2e', 'a?b#c', "'; drop table x"])(
  'the account %j is suspended by its name',
  async (name) => {
    const account = `${name}${crypto.randomUUID()}`;
    await signIn(account);
    expect(await setState(account, 'suspended')).toMatchObject({ account, state: 'suspended' });
    expect(await errorOf(await ask('hello', { account }))).toMatchObject(SUSPENDED);
  },
);

it.each([{}, { state: 'deleted' }, { state: 'gone' }, { state: 'active', more: 1 }, []])(
  'the change %j is refused',
  async (body) => {
    const { account } = await signIn(newAccount());
    const answer = await operate(pathOf(account), 'PATCH', body);
    expect(await errorOf(answer)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    expect((await look(account)).state).toBe('active');
  },
);

it('a name of 301 characters is of no account', async () => {
  expect((await operate(pathOf('x'.repeat(301)))).status).toBe(404);
});
