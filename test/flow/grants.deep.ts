import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client, createClient } from '../../client/index.ts';
import { callDrawbridge } from '../cli/called.ts';
import { type House, makeRepository, startHouse } from './house.ts';

/** The owner's rules: commands run, but for pushes and deletions of a folder. */
const RULES = [
  { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' as const },
  { tool: 'run_terminal_cmd', pattern: 'touch ask*', decision: 'ask' as const },
];

let house: House;
let bridgeId: string;
/** By name: the owner, two that are let in, and one that is not. */
let callers: Readonly<Record<'ana' | 'ben' | 'shopper' | 'eve', Caller>>;

interface Caller {
  readonly client: Client;
  readonly token: string;
}

beforeAll(async () => {
  house = await startHouse({
    rules: RULES,
    prepare: (at) => {
      writeFileSync(join(at, 'a.txt'), 'word\n');
      makeRepository(at);
    },
  });
  bridgeId = house.ready.bridgeId ?? '';
});

afterAll(async () => {
  await house?.[Symbol.asyncDispose]();
});

it('a machine lets accounts in while its bridge runs, and they find it', async () => {
  const [ben, eve] = [await tokenFor('ben'), await tokenFor('eve')];
  const can = ['--can', 'read,chat,agents,manage,approve,machines'];
  const made = await drawbridge('keys', 'create', 'shop', '--bridges', bridgeId, ...can);
  const answer = await house.fetch('/api/v1/tokens', {
    method: 'POST',
    headers: { authorization: `Bearer ${made.stdout.trim()}` },
    body: JSON.stringify({ user: '42' }),
  });
  const { token } = (await answer.json()) as { token: string };
  const callerOf = (each: string) => ({
    token: each,
    client: createClient({ url: house.ready.url, token: each }),
  });
  callers = {
    ana: callerOf(house.ready.token),
    ben: callerOf(ben),
    shopper: callerOf(token),
    eve: callerOf(eve),
  };
  // Where there is no sandbox, commands of others run by this preset alone.
  await drawbridge('allow', 'ben', '--preset', 'trusted');
  await drawbridge('allow', 'app:shop');
  await expect.poll(async () => (await callers.ben.client.listBridges()).items).toHaveLength(1);
  await expect.poll(async () => (await callers.shopper.client.listBridges()).items).toHaveLength(1);
  expect((await callers.eve.client.listBridges()).items).toEqual([]);
});

it('an account that the machine lets in works in the folder as far as rules and preset allow', async () => {
  const { ben, shopper, eve } = callers;
  const done = await say(ben, 'run touch bens.txt', { bridgeId });
  expect(done.status).toBe('completed');
  expect(has('bens.txt')).toBe(true);
  const refused = await say(ben, 'run touch asked.txt', { bridgeId });
  expect(JSON.stringify(refused.documents)).toContain('needs a yes of the owner');
  expect(has('asked.txt')).toBe(false);
  await say(ben, 'run touch unnamed.txt');
  expect(has('unnamed.txt')).toBe(false);
  expect(JSON.stringify((await say(shopper, 'read a.txt')).documents)).toContain('word');
  await say(shopper, 'run touch shoppers.txt');
  await say(shopper, 'create shoppers.txt with words');
  expect(has('shoppers.txt')).toBe(false);
  await expect(say(eve, 'read a.txt', { bridgeId })).rejects.toMatchObject({ status: 404 });
  const { items } = await callers.ana.client.listApprovals();
  expect(items).toEqual([]);
});

it('no path leads to what belongs to someone else', async () => {
  const owned = await say(callers.ana, 'create anas.txt with words of ana');
  const spec = (await (await house.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { requestBody?: Body; operationId: string }>>;
  };
  const ids: Readonly<Record<string, string>> = {
    conversations: owned.conversationId,
    agents: owned.conversationId,
    completions: owned.id,
    bridges: bridgeId,
    chat: owned.conversationId,
  };
  const before = JSON.stringify(await viewOf(owned.conversationId));
  const reached: string[] = [];
  for (const [path, methods] of Object.entries(spec.paths)) {
    const place = path.replace(/([a-z]+)\/\{id\}/, (_, of: string) => `${of}/${ids[of] ?? 'x'}`);
    if (place === path || /\/connect$/.test(path)) continue;
    for (const [method, { requestBody, operationId }] of Object.entries(methods)) {
      const body = requestBody?.content?.['application/json']?.example;
      for (const name of ['ben', 'shopper', 'eve'] as const) {
        const response = await house.fetch(place.replace(/\{\w+\}/g, owned.id), {
          method: method.toUpperCase(),
          headers: { authorization: `Bearer ${callers[name].token}` },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        await response.body?.cancel();
        if (response.status < 400) reached.push(`${name} ${operationId}`);
      }
    }
  }
  // Those that are let in see the shared bridge itself.
  expect(reached.filter((each) => !/^(ben|shopper) getBridge$/.test(each))).toEqual([]);
  expect(JSON.stringify(await viewOf(owned.conversationId))).toBe(before);
  expect(readFileSync(join(house.workspace, 'anas.txt'), 'utf8')).toContain('words of ana');
});

it('the owner sees what others did, and nothing of their conversations', async () => {
  const said = await say(callers.ben, 'run touch seen.txt', { bridgeId });
  const { stdout } = await drawbridge('audit', '--json');
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records).toContainEqual(
    expect.objectContaining({
      account: 'ben',
      tool: 'run_terminal_cmd',
      subject: 'touch seen.txt',
      conversation: said.conversationId,
      outcome: 'success',
    }),
  );
  expect(records.map(({ account }) => account)).not.toContain('eve');
  await expect(viewOf(said.conversationId)).rejects.toMatchObject({ status: 404 });
  expect((await drawbridge('allow')).stdout).toMatch(
    /^ben\ttrusted\t[^\t]+\t\d{4}-[^\t]+\t\d{4}-/m,
  );
});

it('an app’s user whose grant is for worktrees works by an agent in one, and not in the folder', async () => {
  const { shopper } = callers;
  expect((await drawbridge('allow', 'app:shop', '--preset', 'workspace', '--worktrees')).code).toBe(
    0,
  );
  const refused = await say(shopper, 'create shoppers.txt with words');
  expect(JSON.stringify(refused.documents)).toContain('WORKTREE_REQUIRED');
  const { id } = await shopper.client.createAgent({ prompt: 'create shoppers.txt with words' });
  const agent = () => shopper.client.getAgent(id);
  await expect
    .poll(async () => (await agent()).status, { timeout: 40_000 })
    .not.toMatch(/running|queued/);
  expect(await agent()).toMatchObject({
    worktree: { files: [{ path: 'shoppers.txt' }] },
  });
  expect(has('shoppers.txt')).toBe(false);
});

it('the end of a grant ends what runs, and nothing runs afterwards', async () => {
  const { ben } = callers;
  const running = say(ben, 'run touch begun.txt && sleep 600', { bridgeId });
  await expect.poll(() => has('begun.txt')).toBe(true);
  expect((await drawbridge('disallow', 'ben')).code).toBe(0);
  const ended = await running;
  // A command that had begun says itself how far it came.
  expect(JSON.stringify(ended.documents)).toMatch(/NOT_GRANTED|CANCELLED/);
  await say(ben, 'run touch later.txt', { conversationId: ended.conversationId });
  expect(has('later.txt')).toBe(false);
  await expect(say(ben, 'read a.txt', { bridgeId })).rejects.toMatchObject({ status: 404 });
  expect((await ben.client.listBridges()).items).toEqual([]);
});

interface Body {
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
}

function has(name: string): boolean {
  return existsSync(join(house.workspace, name));
}

function say({ client }: Caller, content: string, more: object = {}) {
  return client.chat({ messages: [{ role: 'user', content }], ...more });
}

function viewOf(conversationId: string) {
  return callers.ana.client.getConversation(conversationId);
}

function drawbridge(...args: readonly string[]) {
  return callDrawbridge([...args, '--workspace', house.workspace, '--state', house.state]);
}

async function tokenFor(account: string): Promise<string> {
  const secretFile = join(house.state, 'auth-secret');
  const made = await callDrawbridge(['token', '--for', account, '--secret-file', secretFile]);
  return made.stdout.trim();
}
