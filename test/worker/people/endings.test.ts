import {
  abortAllDurableObjects,
  runDurableObjectAlarm,
  runInDurableObject,
  SELF,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { type Description, operationsOf } from '../../../bench/fuzz/description.ts';
import { beginLogin, enter, newSessionKey, sessionTokens } from '../../../client/index.ts';
import { CALLS } from '../../../doors/cursor/connect/service.ts';
import { newBridgeId, newDeviceId } from '../../../shared/ids.ts';
import { CLOSE } from '../../../shared/wire/tunnel.ts';
import { SESSION_KEEPING } from '../../../worker/account/limits.ts';
import { Account } from '../../../worker/account/object.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { conversationOf } from '../../../worker/objects.ts';
import { errorOf, scriptModel } from '../api.ts';
import { holdModel, runCommand, textFrame } from '../conversation/held-model.ts';
import { QUICK_REFUSALS, quicken } from '../follow/watching.ts';
import { connectBridge, NONCE, openBridge } from '../tunnel/scripted-bridge.ts';
import { clientOf, clientWith, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const HOLDER = { name: 'ana-laptop', kind: 'machine' } as const;

afterEach(() => void vi.useRealTimers());

async function tokenOf(kept: Awaited<ReturnType<typeof signIn>>, bridge?: string) {
  return await sessionTokens(SERVER, kept, bridge)(undefined, undefined);
}

async function post(path: string, token: string, body: object): Promise<Response> {
  return await SELF.fetch(`${SERVER.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const MESSAGE = { messages: [{ role: 'user' as const, content: 'hello' }] };

it.each([
  ['/api/v1/chat/completions', {}],
  ['/v1/chat/completions', { store: true }],
])(
  'the answer that a session streams from its own POST %s is cut when the session ends',
  async (path, more) => {
    quicken({ [FOLLOW_LIMITS.heartbeatMs]: 20, [FOLLOW_LIMITS.heldMs]: 20 });
    const model = holdModel();
    const account = newAccount();
    const kept = await signIn(account);
    const body = { ...MESSAGE, ...more, stream: true };
    const response = await post(path, await tokenOf(kept), body);
    expect(response.status).toBe(200);
    const reply = await model.next();
    reply.send(textFrame('one'));
    await (await clientOf(account)).endSession(kept.session);
    let isCut = false;
    const whole = response.text().then(() => {
      isCut = true;
    });
    await vi.waitFor(() => expect(isCut).toBe(true));
    await whole;
    reply.answer({ text: 'two' });
  },
);

it('an ended session is refused at every path of the API', async () => {
  const description: Description = await (await SELF.fetch(`${SERVER.url}/openapi.json`)).json();
  const kept = await signIn(newAccount());
  const bridgeId = newBridgeId(crypto.randomUUID());
  const [token, bridgeToken] = [await tokenOf(kept), await tokenOf(kept, bridgeId)];
  await (await clientOf(kept.account)).endSession(kept.session);
  const paths = operationsOf(description).filter(({ isOpen }) => !isOpen);
  const calls = [...CALLS.keys()].map((path) => ({ method: 'POST', path }));
  const letIn: string[] = [];
  for (const { method, path } of [...paths, ...calls]) {
    const isTunnel = path.endsWith('/connect');
    const address = `${SERVER.url}${path.replaceAll(/\{.*?\}/g, isTunnel ? bridgeId : 'x')}`;
    const authorization = `Bearer ${isTunnel ? bridgeToken : token}`;
    const headers = { authorization, ...(isTunnel && { upgrade: 'websocket' }) };
    const { status } = await SELF.fetch(address, { method, headers });
    if (status !== 401 && status !== 403) letIn.push(`${method} ${path} ${status}`);
  }
  expect(paths.length).toBeGreaterThan(30);
  expect(letIn).toEqual([]);
});

it('a bridge that was opened before its session ended is refused when it says hello', async () => {
  const account = newAccount();
  const kept = await signIn(account);
  const bridgeId = newBridgeId(crypto.randomUUID());
  const bridge = await openBridge({ account, bridgeId, token: await tokenOf(kept, bridgeId) });
  const client = await clientOf(account);
  await client.endSession(kept.session);
  bridge.hello();
  expect(await bridge.next('goodbye')).toMatchObject({ code: 'SESSION_ENDED' });
  expect(await bridge.closed).toBe(CLOSE.sessionEnded);
  expect((await client.listBridges()).items).toEqual([]);
});

it('an invitation ends with the session that made it', async () => {
  const account = newAccount();
  const stolen = await signIn(account);
  const { secret } = await clientWith(stolen).createInvitation();
  const client = await clientOf(account);
  await client.endSession(stolen.session);
  await expectRefused(enter(SERVER, secret, HOLDER, await newSessionKey()), 'ENTRY_ENDED');
  expect(await client.listSessions()).toEqual({ items: [] });
});

it('a login that a session let in does not get in after the end of that session', async () => {
  const account = newAccount();
  const stolen = await signIn(account);
  const signer = await newSessionKey();
  const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
  await clientWith(stolen).decideLogin(code, { decision: 'approve', key: signer.publicKey });
  await (await clientOf(account)).endSession(stolen.session);
  await expectRefused(enter(SERVER, secret, HOLDER, signer), 'ENTRY_ENDED');
});

it('a session that has got in stays when the session that invited it ends', async () => {
  const account = newAccount();
  const inviter = await signIn(account);
  const { secret } = await clientWith(inviter).createInvitation();
  const signer = await newSessionKey();
  const made = await enter(SERVER, secret, HOLDER, signer);
  await (await clientOf(account)).endSession(inviter.session);
  expect(await enter(SERVER, secret, HOLDER, signer)).toEqual(made);
  expect(await clientWith({ ...made, signer }).getMe()).toMatchObject({ account });
});

it('two keys that use an invitation at once make one session', async () => {
  const account = newAccount();
  const { secret } = await (await clientOf(account)).createInvitation();
  const attempts = Array.from({ length: 8 }, async () =>
    enter(SERVER, secret, HOLDER, await newSessionKey()),
  );
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await (await clientOf(account)).listSessions()).items).toHaveLength(1);
});

it('a conversation that cannot be read does not hold up the ends of sessions for ever', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const account = newAccount();
  const kept = await signIn(account);
  const { conversationId } = await clientWith(kept).chat(MESSAGE);
  const stub = conversationOf(env, { conversationId });
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    sql.exec('update schema_version set version = version + 1'); // As a newer version does.
  });
  await abortAllDurableObjects();
  await (await clientOf(account)).endSession(kept.session);
  const object = env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
  let tries = 0;
  while (tries <= SESSION_KEEPING.maxCutTries && (await runDurableObjectAlarm(object))) tries++;
  expect(tries).toBeLessThanOrEqual(SESSION_KEEPING.maxCutTries);
});

it('a message whose body is still on the way when its session ends is not answered', async () => {
  const requests = scriptModel(() => ({ text: 'Hi.' }));
  const kept = await signIn(newAccount());
  const late = { messages: [{ role: 'user', content: 'a late message' }] };
  expect(await refusedLate('/api/v1/chat/completions', kept, late)).toBe('SESSION_ENDED');
  expect(JSON.stringify(requests)).not.toContain('a late message');
});

it('a yes whose body is still on the way when its session ends reaches no bridge', async () => {
  const model = holdModel();
  const account = newAccount();
  const kept = await signIn(account);
  const bridge = await connectBridge({ account });
  const mine = await clientOf(account);
  const asked = await post('/api/v1/chat/completions', await tokenOf(kept), {
    ...MESSAGE,
    stream: true,
    bridgeId: bridge.bridgeId,
  });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  bridge.ask(callId);
  const isWaiting = async () => (await mine.listApprovals()).items.length;
  await expect.poll(isWaiting).toBe(1);
  const conversation = asked.headers.get('drawbridge-conversation-id');
  const path = `/api/v1/conversations/${conversation}/approvals/${callId}`;
  const signature = { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2ln' };
  const yes = { nonce: NONCE, decision: 'once', signature };
  expect(await refusedLate(path, kept, yes)).toBe('SESSION_ENDED');
  expect(await isWaiting()).toBe(1);
  const other = await signIn(account);
  quicken(QUICK_REFUSALS);
  expect((await post(path, await tokenOf(other), { ...yes, decision: 'reject' })).status).toBe(200);
  expect((await bridge.next('approval')).answer).toMatchObject({ decision: 'reject' });
  await asked.body?.cancel();
});

/** Ends the session in the middle of the request's body, and returns the code of the refusal. */
async function refusedLate(
  path: string,
  kept: Awaited<ReturnType<typeof signIn>>,
  body: object,
): Promise<string> {
  const token = await tokenOf(kept);
  const asked = vi.spyOn(Account.prototype, 'refusal');
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const headers = { authorization: `Bearer ${token}` };
  const answer = SELF.fetch(`${SERVER.url}${path}`, { method: 'POST', headers, body: readable });
  const writer = writable.getWriter();
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  await writer.write(bytes.slice(0, 10));
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  await clientWith(kept).endSession(kept.session);
  vi.setSystemTime(Date.now() + SESSION_KEEPING.trustedMs + 1);
  await writer.write(bytes.slice(10));
  await writer.close();
  const { status, code } = await errorOf(await answer);
  expect(status).toBe(401);
  return code;
}
