import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { newBridgeId } from '../../../shared/ids.ts';
import { GRANT_LIMITS } from '../../../shared/limits.ts';
import { TunnelStore } from '../../../worker/tunnel/statements.ts';
import { call, errorOf, standsAt } from '../api.ts';
import { askHeld, readView } from '../conversation/conversing.ts';
import { type HeldModel, runCommand } from '../conversation/held-model.ts';
import { newToolCall } from './calls.ts';
import { NONCE, openBridge, type ScriptedBridge, tunnelOf } from './scripted-bridge.ts';

const CONTEXT = {
  os: 'TestOS',
  shell: 'sh',
  workspacePath: '/home/ana/secret-client/shop',
  projectLayout: 'owners-draft.txt',
  gitStatus: '## main\n?? owners-draft.txt',
  rules: { files: [{ ...ruleFile(), origin: 'owner' as const }], leftOut: [] },
};
const SERVERS = [
  {
    name: 'tickets',
    state: 'ready',
    toolCount: 1,
    resources: [],
    resourceCount: 0,
    prompts: [],
    promptCount: 0,
  },
];

function ruleFile() {
  return { path: 'rules.md', kind: 'always' as const, folder: '.', text: 'Owner’s words.' };
}

/** Fresh names, because a file shares its objects. */
function people() {
  const id = crypto.randomUUID().slice(0, 8);
  return { ana: `ana-${id}`, ben: `ben-${id}`, eve: `eve-${id}` };
}

async function connect(
  account: string,
  grants: readonly string[],
  { bridgeId = newBridgeId(crypto.randomUUID()) } = {},
): Promise<ScriptedBridge> {
  const bridge = await openBridge({ account, bridgeId });
  const set = { digest: 'd'.repeat(64) };
  await bridge.greet({ context: CONTEXT, grants, offers: set.digest });
  return bridge;
}

it('no method of the tunnel shows or does anything for an account that is not let in', async () => {
  const { ana, ben, eve } = people();
  const bridge = await connect(ana, [ben, 'app:shop']);
  const tunnel = tunnelOf(bridge.bridgeId);
  const own = newToolCall();
  await tunnel.dispatch(ana, [own]);
  await bridge.nextCall();
  bridge.ask(own.callId);
  for (const stranger of [
    eve,
    '',
    `${ben} `,
    `${ben}\u200b`,
    'app:sho:1',
    'app:shop',
    'x'.repeat(300),
  ]) {
    expect(await tunnel.describe(stranger)).toBeNull();
    expect(await tunnel.status(stranger)).toBeNull();
    expect(await tunnel.details(stranger)).toBeNull();
    expect(await tunnel.look(stranger)).toBeNull();
    expect(await tunnel.offers(stranger, 'd'.repeat(64))).toBeNull();
    expect(await tunnel.processes(stranger, {})).toBeNull();
    expect(await tunnel.policy(stranger)).toBeNull();
    expect(await tunnel.answerState(stranger, { callId: own.callId, nonce: NONCE })).toEqual({
      state: 'over',
    });
    const answered = await tunnel.answer(stranger, { ...own, nonce: NONCE, decision: 'reject' });
    expect(answered).toMatchObject({ ok: false, code: 'NOT_FOUND' });
    await tunnel.cancel(stranger, [own.callId]);
    expect(await tunnel.dispatch(stranger, [newToolCall()])).toBe(0);
  }
  expect(await openOf(bridge.bridgeId)).toEqual([own.conversationId]);
  expect(bridge.frames.filter(({ type }) => type !== 'offers_wanted')).toEqual([]);
});

it('an account that is let in sees the folder’s name and its own calls, and nothing of the owner', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben, 'app:shop']);
  bridge.send({ type: 'mcp_servers', servers: SERVERS });
  const tunnel = tunnelOf(bridge.bridgeId);
  const own = newToolCall();
  await tunnel.dispatch(ana, [own]);
  await bridge.nextCall();
  for (const account of [ben, 'app:shop:42']) {
    const [described, listed, details] = [
      await tunnel.describe(account),
      await tunnel.status(account),
      await tunnel.details(account),
    ];
    expect(described).toMatchObject({ isConnected: true, context: { projectLayout: '' } });
    expect(listed).toMatchObject({ workspacePath: 'shop', shared: true, connected: true });
    expect(details).toMatchObject({ mcpServers: [] });
    const { context } = described ?? {};
    const words = JSON.stringify([{ ...context, workspacePath: '' }, listed, details]);
    for (const hidden of ['secret-client', 'owners-draft', 'Owner’s', 'tickets', ana]) {
      expect(words).not.toContain(hidden);
    }
    expect(described).not.toHaveProperty('offers');
    expect(await tunnel.offers(account, 'd'.repeat(64))).toBeNull();
    expect(await tunnel.processes(account, {})).toBeNull();
    expect(await tunnel.policy(account)).toBeNull();
    const answer = { callId: own.callId, nonce: NONCE, decision: 'reject' as const };
    expect(await tunnel.answer(account, answer)).toMatchObject({ ok: false, code: 'NOT_FOUND' });
    await tunnel.cancel(account, [own.callId]);
  }
  expect(await openOf(bridge.bridgeId)).toEqual([own.conversationId]);
});

it('each call says whose it is, and only its account and the owner can end it', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben, 'app:shop']);
  const tunnel = tunnelOf(bridge.bridgeId);
  const calls = { [ana]: newToolCall(), [ben]: newToolCall(), 'app:shop:1': newToolCall() };
  const got = new Map<string, string | undefined>();
  for (const [account, each] of Object.entries(calls)) {
    await tunnel.dispatch(account, [{ ...each, grantee: 'app:forged:1' }]);
    got.set(account, (await bridge.nextCall()).grantee);
  }
  expect([...got.values()]).toEqual([undefined, ben, 'app:shop:1']);
  for (const [account, each] of Object.entries(calls)) {
    expect(await openOf(bridge.bridgeId, account === ana ? undefined : account)).toEqual([
      each.conversationId,
    ]);
  }
  await tunnel.cancel('app:shop:1', [calls[ben]?.callId ?? '']);
  await tunnel.cancel('app:shop:2', [calls['app:shop:1']?.callId ?? '']);
  await tunnel.cancel(ben, [calls[ben]?.callId ?? '']);
  expect((await bridge.next('cancel')).callId).toBe(calls[ben]?.callId);
  expect(bridge.frames.filter(({ type }) => type === 'cancel')).toEqual([]);
});

it('a look says whose it is, and what another account sees is not kept as the owner’s', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben]);
  bridge.sees = null;
  const tunnel = tunnelOf(bridge.bridgeId);
  const looked = tunnel.look(ben);
  const { lookId, grantee } = await bridge.next('look');
  expect(grantee).toBe(ben);
  bridge.send({ type: 'context', lookId, context: { ...CONTEXT, projectLayout: 'for-ben' } });
  expect(await looked).toMatchObject({ known: { context: { projectLayout: 'for-ben' } }, rows: 0 });
  expect(await tunnel.describe(ana)).toMatchObject({ context: CONTEXT });
});

it('the people whom a machine lets in find its bridge in their list, until it lets them in no more', async () => {
  const { ana, ben, eve } = people();
  const bridge = await connect(ana, [ben]);
  const listOf = async (account: string) => {
    const response = await call('bridges', { account });
    return ((await response.json()) as { items: { id: string; shared?: true }[] }).items;
  };
  await vi.waitFor(async () =>
    expect(await listOf(ben)).toMatchObject([{ id: bridge.bridgeId, shared: true }]),
  );
  expect(await listOf(eve)).toEqual([]);
  expect(await listOf(ana)).toMatchObject([{ workspacePath: CONTEXT.workspacePath }]);
  const path = `bridges/${bridge.bridgeId}`;
  expect((await call(path, { account: ben })).status).toBe(200);
  expect((await call(path, { account: eve })).status).toBe(404);
  for (const account of [ben, eve]) {
    expect((await call(`${path}/processes`, { account })).status).toBe(404);
  }
  bridge.send({ type: 'grants', names: [] });
  await vi.waitFor(async () => expect(await listOf(ben)).toEqual([]));
  expect((await call(path, { account: ben })).status).toBe(404);
});

it('a shared bridge takes no message that does not name it, and leaves the own one the only one', async () => {
  const { ana, ben } = people();
  const shared = await connect(ana, [ben]);
  await vi.waitFor(async () => {
    const { items } = await (await call('bridges', { account: ben })).json<{ items: object[] }>();
    expect(items).toHaveLength(1);
  });
  standsAt.delete(ben);
  const bridgeOf = async (more: object = {}) => {
    const { model, conversationId, reader } = await askHeld({ account: ben, ...more });
    (await model.next()).answer({ text: 'Hi.' });
    await reader.toEnd();
    return (await readView(conversationId, { account: ben })).bridgeId;
  };
  expect(await bridgeOf()).toBeNull();
  const own = await connect(ben, []);
  expect(await bridgeOf()).toBe(own.bridgeId);
  expect(await bridgeOf({ bridgeId: shared.bridgeId })).toBe(shared.bridgeId);
  const refused = await call('chat/completions', {
    account: ana,
    body: { messages: [{ role: 'user', content: 'x' }], bridgeId: own.bridgeId },
  });
  expect(await errorOf(refused)).toMatchObject({ status: 404 });
});

it('the owner sees nothing of another account’s conversation at the owner’s bridge, and the other way round', async () => {
  const { ana, ben } = people();
  const { bridge, asked } = await askOf(ben, await connect(ana, [ben]));
  await bridge.nextCall();
  for (const [account, path] of [
    [ana, `conversations/${asked.conversationId}`],
    [ana, `chat/completions/${asked.responseId}`],
  ]) {
    expect((await call(path ?? '', { account: account ?? '' })).status).toBe(404);
  }
  const { items } = await (await call('approvals', { account: ana })).json<{ items: object[] }>();
  expect(items).toEqual([]);
  await asked.reader.leave();
});

it('a bridge’s question about another account’s call reaches no one', async () => {
  const { ana, ben } = people();
  const { bridge, asked, model } = await askOf(ben, await connect(ana, [ben]));
  const { callId } = await bridge.nextCall();
  bridge.ask(callId);
  bridge.succeed(callId, 'ran');
  (await model.next()).answer({ text: 'Done.' });
  const types = (await asked.reader.toEnd()).map(({ event }) => event.type);
  expect(types).not.toContain('approval_request');
});

it('a grant that ends while the bridge is away fails the call that waits, and the model learns why', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben]);
  const { bridgeId } = bridge;
  await bridge.leave();
  const { model, asked } = await askOf(ben, bridge);
  await vi.waitFor(async () => expect(await openOf(bridgeId, ben)).toHaveLength(1));
  const back = await connect(ana, [], { bridgeId });
  const { request } = await answerNext(model);
  expect(request.messages.at(-1)?.content).toMatch(/^Error NOT_GRANTED/);
  await asked.reader.toEnd();
  expect(back.frames.filter(({ type }) => type === 'call')).toEqual([]);
});

it('a grant that ends while a call runs cancels it at the bridge, whose result counts', async () => {
  const { ana, ben } = people();
  const { bridge, asked, model } = await askOf(ben, await connect(ana, [ben]));
  const { callId } = await bridge.nextCall();
  bridge.send({ type: 'grants', names: [] });
  expect((await bridge.next('cancel')).callId).toBe(callId);
  bridge.finish(callId, ungranted());
  const { request } = await answerNext(model);
  expect(request.messages.at(-1)?.content).toMatch(/^Error NOT_GRANTED/);
  await asked.reader.toEnd();
});

it('a call after the end of the grant fails at once', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben]);
  const { bridgeId } = bridge;
  const { model, asked } = await heldOf(ben, bridgeId);
  const reply = await model.next();
  bridge.send({ type: 'grants', names: [] });
  await vi.waitFor(async () => expect(await tunnelOf(bridgeId).status(ben)).toBeNull());
  reply.answer({ calls: [runCommand('make')] });
  const { request } = await answerNext(model);
  expect(request.messages.at(-1)?.content).toMatch(/^Error NOT_GRANTED/);
  await asked.reader.toEnd();
  expect(bridge.frames.filter(({ type }) => type === 'call')).toEqual([]);
});

it('a bridge that lets no one in, in the same folder, never gets a call of another account', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben]);
  const { bridgeId } = bridge;
  const { model, asked } = await askOf(ben, bridge);
  await bridge.nextCall();
  await bridge.leave();
  const older = await openBridge({ account: ana, bridgeId });
  const { calls, cancels } = await older.greet({ context: CONTEXT });
  expect([calls, cancels.length]).toEqual([[], 1]);
  older.finish(cancels[0] ?? '', ungranted());
  await answerNext(model);
  await asked.reader.toEnd();
});

it('a private call keeps its account although its words are not stored', async () => {
  const { ana, ben } = people();
  const bridge = await connect(ana, [ben]);
  await bridge.leave();
  const [mine, his] = [newToolCall(), newToolCall()];
  await tunnelOf(bridge.bridgeId).dispatch(ana, [{ ...mine, isPrivate: true }]);
  await tunnelOf(bridge.bridgeId).dispatch(ben, [{ ...his, isPrivate: true }]);
  await abortAllDurableObjects();
  expect(await openOf(bridge.bridgeId)).toEqual([mine.conversationId]);
  expect(await openOf(bridge.bridgeId, ben)).toEqual([his.conversationId]);
});

it('the list of an account takes a bounded number of bridges of others', async () => {
  const { ben } = people();
  const account = () => env.ACCOUNTS.get(env.ACCOUNTS.idFromName(ben));
  await account().bridgeConnected('bridge_own');
  for (let index = 0; index < 150; index++) await account().bridgeShared(`bridge_${index}`);
  const known = (await account().bridges()).map(({ id }) => id);
  expect(known).toHaveLength(GRANT_LIMITS.maxShared);
  expect(known).toContain('bridge_own');
});

it.each([
  [['b en']],
  [['ben\u202e']],
  [['app:*']],
  [['x'.repeat(300)]],
  [Array.from({ length: 101 }, (_, index) => `u${index}`)],
])('a hello that lets in %j is not understood', async (grants) => {
  const { ana } = people();
  const bridge = await openBridge({ account: ana });
  bridge.hello({ context: CONTEXT, grants });
  expect((await bridge.next('goodbye')).code).toBe('BAD_FRAME');
});

async function heldOf(account: string, bridgeId: string) {
  const { model, ...asked } = await askHeld({ account, bridgeId });
  return { model, asked };
}

/** A message of the account, of which the model wants a command. */
async function askOf(account: string, bridge: ScriptedBridge) {
  const held = await heldOf(account, bridge.bridgeId);
  (await held.model.next()).answer({ calls: [runCommand('make')] });
  return { ...held, bridge };
}

async function answerNext(model: HeldModel) {
  const reply = await model.next();
  reply.answer({ text: 'I cannot.' });
  return reply;
}

function ungranted() {
  return { status: 'error', code: 'NOT_GRANTED', data: 'Not granted.' } as const;
}

/** The conversations with open calls of the owner, or of an account that is let in. */
async function openOf(bridgeId: string, grantee?: string): Promise<string[]> {
  return await runInDurableObject(tunnelOf(bridgeId), (_, { storage }) =>
    new TunnelStore(storage.sql)
      .readCalls()
      .filter(({ call }) => call.grantee === grantee)
      .map(({ call }) => call.conversationId),
  );
}
