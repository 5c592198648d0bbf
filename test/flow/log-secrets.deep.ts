import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../client/index.ts';
import { projectName } from '../../local/state/folder.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import { type ScriptedAnswer, startScriptedModel } from '../far-ends/scripted-model.ts';
import { treeOf } from '../local/processes.ts';
import { type Server, sendAllowing } from './allowing.ts';
import { DRAWBRIDGE, endProcess, startHouse, until } from './house.ts';

/** Each occurs nowhere else. */
const SECRETS = {
  modelKey: secret(),
  metricsToken: secret(),
  /** A variable that the owner lets commands have. */
  deployKey: secret(),
  mcpVariable: secret(),
  mcpHeader: secret(),
  mcpAddress: secret(),
  /** In a file, and so in results of tools and in arguments of the model. */
  content: secret(),
  said: secret(),
  wrongToken: secret(),
  ticket: secret(),
};

const VARIABLES = {
  OPENAI_API_KEY: SECRETS.modelKey,
  METRICS_TOKEN: SECRETS.metricsToken,
  DEPLOY_KEY: SECRETS.deployKey,
  DRAWBRIDGE_PASS_ENV: 'DEPLOY_KEY',
};

function secret(): string {
  return `kept-${crypto.randomUUID()}`;
}

interface Running extends Server {
  /** Of the one process above all others. */
  readonly pid: number;
  readonly projectDir: string;
  end(): Promise<unknown>;
}

const KINDS: Readonly<Record<string, (modelUrl: string) => Promise<Running>>> = {
  'up --state': startForeground,
  start: startBackground,
};

it.each(Object.entries(KINDS))('no log of `%s` holds a secret', async (_, start) => {
  const model = await startScriptedModel(script);
  onTestFinished(() => model.close());
  const running = await start(model.baseUrl);
  await useAll(running);
  const logsDir = join(running.state, 'logs');
  const log = () => logsIn(logsDir);
  await until(() => log().includes('"event":"mcp_server_down","server":"words"'));
  await until(() => log().includes('"event":"mcp_server_down","server":"web"'));
  crash(running);
  await until(() => log().includes('"event":"worker_restarted"'));
  await running.end();
  // The run really went everywhere.
  for (const code of ['UPSTREAM_ERROR', 'FILE_NOT_FOUND']) expect(log()).toContain(`"${code}"`);
  expect(log()).toMatch(/"event":"call_ended".*"tool":"run_terminal_cmd"/);
  const all = { ...SECRETS, ...keptIn(running.state) };
  const found = Object.entries(all).filter(([, text]) => log().includes(text));
  expect(found.map(([name]) => name)).toEqual([]);
  expect(log()).not.toMatch(/eyJ[\w-]+\.[\w-]+/); // The token of a bridge, or any other one.
});

function keptIn(stateDir: string): Record<string, string> {
  const read = (name: string) => readFileSync(join(stateDir, name), 'utf8').trim();
  const { d: device } = JSON.parse(read('device.json')).privateKey;
  const [authSecret, ownMetricsToken] = [read('auth-secret'), read('metrics-token')];
  return { device, authSecret, ownMetricsToken };
}

/** Reads and shows what is secret, and fails in many ways. */
function script({ messages }: ScriptedRequest): ScriptedAnswer {
  if (JSON.stringify(messages).includes('Fail')) {
    return { status: 401, body: `{"error":{"message":"wrong key ${SECRETS.modelKey}"}}` };
  }
  if (messages.at(-1)?.role === 'tool') return { text: SECRETS.content };
  const command = 'echo $DEPLOY_KEY; cat secret.txt; exit 3';
  const calls = [
    { name: 'run_terminal_cmd', arguments: { command, permissions: ['all'] } },
    { name: 'read_file', arguments: { target_file: 'secret.txt' } },
    { name: 'read_file', arguments: { target_file: `${SECRETS.content}.txt` } },
    { name: 'write', arguments: { file_path: 'made.txt', contents: SECRETS.content } },
    { name: 'grep', arguments: { pattern: SECRETS.content } },
  ];
  return { text: SECRETS.content, calls };
}

async function useAll(running: Running): Promise<void> {
  const words = 'console.error("error: " + process.env.KEY); process.exit(1)';
  const mcpServers = {
    words: { command: process.execPath, args: ['-e', words], env: { KEY: SECRETS.mcpVariable } },
    web: {
      url: `http://127.0.0.1:9/${SECRETS.mcpAddress}`,
      headers: { Authorization: `Bearer ${SECRETS.mcpHeader}` },
    },
  };
  writeFileSync(join(running.projectDir, 'mcp.json'), JSON.stringify({ mcpServers }));
  const { response } = await sendAllowing(running, `Go: ${SECRETS.said}`);
  expect(response.status).toBe('completed');
  expect(JSON.stringify(response)).toContain(SECRETS.deployKey);
  const failed = await running.client.chat({ messages: [{ role: 'user', content: 'Fail.' }] });
  expect(failed.status).toBe('error');
  const headers = { authorization: `Bearer ${SECRETS.wrongToken}` };
  expect((await running.fetch('/api/v1/me', { headers })).status).toBe(401);
  expect((await running.fetch('/metrics', { headers })).status).toBe(401);
  const events = `/api/v1/chat/completions/${failed.id}/events?ticket=${SECRETS.ticket}`;
  expect((await running.fetch(events, { headers: { authorization: '' } })).ok).toBe(false);
}

/** Kills the Worker and the process of the bridges. */
function crash({ pid }: Running): void {
  for (const { pid: child, command } of treeOf(pid)) {
    if (/workerd\S* serve | connect | bridge-host/.test(command)) process.kill(child, 'SIGKILL');
  }
}

function logsIn(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

async function startForeground(modelUrl: string): Promise<Running> {
  const house = await startHouse({ modelUrl, variables: VARIABLES });
  onTestFinished(() => house[Symbol.asyncDispose]());
  writeFileSync(join(house.workspace, 'secret.txt'), SECRETS.content);
  const { client, fetch, state, up } = house;
  const end = () => endProcess(up);
  return { client, fetch, state, end, projectDir: state, pid: up.pid ?? 0 };
}

async function startBackground(modelUrl: string): Promise<Running> {
  const home = mkdtempSync(join(tmpdir(), 'drawbridge-flow-'));
  const folder = join(home, 'project');
  mkdirSync(folder);
  writeFileSync(join(folder, 'secret.txt'), SECRETS.content);
  const own = { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, OPENAI_BASE_URL: modelUrl };
  const env = { ...process.env, ...VARIABLES, ...own, OPENAI_MODEL: 'scripted' };
  const run = (...words: string[]) =>
    promisify(execFile)(process.execPath, [DRAWBRIDGE, ...words], { cwd: folder, env });
  const end = () => run('stop');
  onTestFinished(async () => {
    await end();
    rmSync(home, { recursive: true, force: true });
  });
  await run('start', '--port', '0');
  const token = (await run('token')).stdout.trim();
  const state = join(home, 'drawbridge', 'server');
  const { url, pid } = JSON.parse(readFileSync(join(state, 'instance.json'), 'utf8'));
  return {
    client: createClient({ url, token }),
    state,
    pid,
    end,
    projectDir: join(state, 'projects', projectName(folder)),
    fetch: (path, init = {}) => {
      const headers = { authorization: `Bearer ${token}`, ...init.headers };
      return fetch(new URL(path, url), { ...init, headers });
    },
  };
}
