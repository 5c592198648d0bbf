import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client, createClient } from '../../client/index.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { DRAWBRIDGE, until } from './house.ts';

const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line} of a long answer.`).join('\n');

/** One server in the background for all tests, with two folders. */
const home = mkdtempSync(join(tmpdir(), 'drawbridge-flow-'));
const folders = { first: join(home, 'first'), second: join(home, 'second') };
const serverDir = join(home, 'drawbridge', 'server');
let model: ScriptedModel;

beforeAll(async () => {
  model = await startScriptedModel((request) => {
    const asked = String(request.messages.findLast(({ role }) => role === 'user')?.content);
    if (asked.includes('long')) return { text: LONG, delayMs: 10 };
    const isRead = request.messages.at(-1)?.role === 'tool';
    if (isRead) return { text: String(request.messages.at(-1)?.content) };
    return { calls: [{ name: 'read_file', arguments: { path: 'who.txt' } }] };
  });
  for (const [name, folder] of Object.entries(folders)) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'who.txt'), `I am the ${name} folder.\n`);
    await run(folder, 'start', '--port', '0');
  }
});

afterAll(async () => {
  await run(home, 'stop');
  await model?.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(cwd: string, ...args: string[]): Promise<string> {
  return await runAt(home, cwd, ...args);
}

/** With the state of another home. */
async function runAt(stateHome: string, cwd: string, ...args: string[]): Promise<string> {
  const { OPENAI_API_KEY: _, MODELS: __, ...own } = process.env;
  const env = {
    ...own,
    XDG_STATE_HOME: stateHome,
    XDG_CONFIG_HOME: home,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: 'scripted',
  };
  const running = promisify(execFile)(process.execPath, [DRAWBRIDGE, ...args], { cwd, env });
  running.child.stdin?.end();
  return (await running).stdout;
}

const instance = (dir = serverDir) => JSON.parse(readFileSync(join(dir, 'instance.json'), 'utf8'));

function clientHere(dir = serverDir): Client {
  const token = readFileSync(join(dir, 'token'), 'utf8');
  return createClient({ url: instance(dir).url, token });
}

/** The workspace of each connected bridge. */
async function bridgesAt(client: Client): Promise<Record<string, string | undefined>> {
  const { items } = await client.listBridges();
  const connected = items.filter((bridge) => bridge.connected);
  return Object.fromEntries(connected.map(({ id, workspacePath }) => [id, workspacePath]));
}

/** All conversations, whole. */
async function conversationsAt(client: Client) {
  const { items } = await client.listConversations();
  const views = await Promise.all(items.map(({ id }) => client.getConversation(id)));
  return views.map(({ id, bridgeId, messages, responses }) => ({
    id,
    bridgeId,
    messages,
    responses,
  }));
}

it("works in the command's own folder, and goes on with that folder's last conversation", async () => {
  const { first, second } = folders;
  // The second folder was connected last, which must not matter.
  expect(await run(first, 'chat', '--json', 'who are you?')).toContain('I am the first folder.');
  expect(await run(second, 'chat', '--json', 'who are you?')).toContain('I am the second folder.');
  await run(first, 'chat', '--continue', 'and again?');
  const client = clientHere();
  const { items } = await client.listConversations();
  expect(items).toHaveLength(2);
  const view = await client.getConversation(items[0]?.id ?? '');
  expect(view.responses).toHaveLength(2);
  const { items: bridges } = await client.listBridges();
  expect(bridges.find(({ id }) => id === view.bridgeId)).toMatchObject({ workspacePath: first });
  const elsewhere = run(second, 'chat', '--conversation', view.id, 'and here?');
  await expect(elsewhere).rejects.toMatchObject({
    stderr: `drawbridge: This conversation works in ${first}: run the command there.\n`,
  });
});

it('completes an answer when the server is killed in the middle of it and started again', async () => {
  const before = instance();
  let responseId = '';
  try {
    const client = clientHere();
    const { items } = await client.listBridges();
    for await (const { event } of client.streamChat({
      messages: [{ role: 'user', content: 'a long story' }],
      bridgeId: items[0]?.id,
    })) {
      if (event.type === 'response_start') responseId = event.response.id;
      if (event.type === 'content_delta') break;
    }
  } finally {
    process.kill(before.pid, 'SIGKILL');
  }
  await until(async () => !(await fetch(`${before.url}/health`).catch(() => undefined)));
  await run(folders.first, 'start', '--port', '0');
  expect(instance().pid).not.toBe(before.pid);
  const client = clientHere();
  await until(async () => (await client.getResponse(responseId)).status === 'completed');
  const { documents } = await client.getResponse(responseId);
  expect(documents.map(({ content }) => content)).toEqual([LONG]);
  await until(
    async () => (await client.listBridges()).items.filter((b) => b.connected).length === 2,
  );
});

it('is restored elsewhere, twice, with each folder, its bridge and its conversations', async () => {
  const before = await conversationsAt(clientHere());
  const bridges = await bridgesAt(clientHere());
  expect(Object.values(bridges).sort()).toEqual(Object.values(folders).sort());
  const file = join(home, 'backup.tar.gz');
  await run(home, 'backup', file);
  await run(home, 'stop');
  const firstPositions = [];
  for (const name of ['once', 'twice']) {
    const elsewhere = join(home, name);
    const dir = join(elsewhere, 'drawbridge', 'server');
    await runAt(elsewhere, home, 'restore', file);
    try {
      await runAt(elsewhere, folders.first, 'start', '--port', '0');
      const client = clientHere(dir);
      await until(async () => Object.keys(await bridgesAt(client)).length === 2);
      expect(await bridgesAt(client)).toEqual(bridges);
      expect(await conversationsAt(client)).toEqual(before);
      for (const [who, folder] of Object.entries(folders)) {
        const shown = await runAt(
          elsewhere,
          folder,
          'chat',
          '--json',
          '--continue',
          'who are you?',
        );
        expect(shown).toContain(`I am the ${who} folder.`);
      }
      const { position } = await client.getConversation(before[0]?.id ?? '', { limit: 1 });
      const { firstPosition } = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8'));
      expect(position).toBeGreaterThanOrEqual(firstPosition);
      firstPositions.push(firstPosition);
    } finally {
      await runAt(elsewhere, home, 'stop');
    }
  }
  // What one future has given out, the other one never gives out.
  expect(firstPositions[1] - firstPositions[0]).toBeGreaterThanOrEqual(2 ** 22);
});
