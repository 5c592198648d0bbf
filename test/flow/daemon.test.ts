import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client, createClient } from '../../client/index.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { until } from './house.ts';

const DRAWBRIDGE = join(import.meta.dirname, '..', '..', 'bin', 'drawbridge.mjs');
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
  const { OPENAI_API_KEY: _, MODELS: __, ...own } = process.env;
  const env = {
    ...own,
    ...{ XDG_STATE_HOME: home, XDG_CONFIG_HOME: home },
    ...{ OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' },
  };
  const running = promisify(execFile)(process.execPath, [DRAWBRIDGE, ...args], { cwd, env });
  running.child.stdin?.end();
  return (await running).stdout;
}

const instance = () => JSON.parse(readFileSync(join(serverDir, 'instance.json'), 'utf8'));

function clientHere(): Client {
  const token = readFileSync(join(serverDir, 'token'), 'utf8');
  return createClient({ url: instance().url, token });
}

it("works in the command's own folder, and goes on with that folder's last conversation", async () => {
  const { first, second } = folders;
  // The second folder was connected last, so it is the one that the server would choose.
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
});

it('completes an answer when the server is killed in the middle of it and started again', async () => {
  const before = instance();
  let responseId = '';
  try {
    for await (const { event } of clientHere().streamChat({
      messages: [{ role: 'user', content: 'Tell me a long story' }],
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
