/**
 * Makes the archives in `states/`: runs each milestone of the history, has conversations of every kind with it, and
 * kills it while it runs. `npx node test/upgrades/make-states.ts [name...]`; without names, the milestones that have no archive.
 * Needs Node 24, the history, npm's registry and `tar`. All keys in the archives were made for them.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { MILESTONES, type Milestone } from './milestones.ts';
import { type Kind, sceneOf } from './scenes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const STATES = join(import.meta.dirname, 'states');

const Ready = z.object({ url: z.string(), token: z.string() });

/** An instance of a milestone. */
interface Running {
  readonly up: ChildProcess;
  /** A request to its API; null where the milestone has no such path. */
  ask(path: string, method?: string, body?: unknown): Promise<unknown>;
}

async function makeState({ name, commit }: Milestone): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-milestone-'));
  const program = join(folder, 'program');
  try {
    checkOut(commit, program);
    const state = join(folder, 'state');
    await converse(program, state, join(folder, 'answers.json'));
    for (const each of ['build', 'logs', 'instance.json', 'lock']) {
      rmSync(join(state, each), { recursive: true, force: true });
    }
    const archive = join(STATES, `${name}.tar.gz`);
    execFileSync('tar', ['-czf', archive, '-C', folder, 'state', 'answers.json']);
    console.log(`${name}: made`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkOut(commit: string, program: string): void {
  mkdirSync(program);
  const tree = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', program], { input: tree });
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: program,
    stdio: 'inherit',
  });
}

async function converse(program: string, state: string, answersFile: string): Promise<void> {
  const model = await startScriptedModel((request) => sceneOf(request, true));
  const running = await startMilestone(program, state, model.baseUrl);
  try {
    const conversations = await haveAll(running);
    const answers = Object.fromEntries(
      await Promise.all(
        Object.entries(conversations).map(async ([kind, id]) => [
          kind,
          await running.ask(`conversations/${id}`),
        ]),
      ),
    );
    writeFileSync(answersFile, JSON.stringify(answers, null, 1));
  } finally {
    // With everything below it: the runtime ends with the process that started it.
    running.up.kill('SIGKILL');
    await once(running.up, 'close');
    await sleep(500);
    await model.close();
  }
}

/** Has one conversation of each kind that the milestone knows. Returns their ids. */
async function haveAll(running: Running): Promise<Record<string, string>> {
  const text = await send(running, 'text');
  await send(running, 'text', { conversationId: text });
  const kept = {
    text,
    edit: await send(running, 'edit'),
    plan: await send(running, 'plan', { mode: 'plan' }).catch(() => undefined),
    archived: await send(running, 'text'),
    forked: undefined as string | undefined,
    approval: await send(running, 'approval'),
    work: await send(running, 'work'),
  };
  await running.ask(`conversations/${kept.archived}`, 'PATCH', { archived: true });
  const { responses } = Begun.parse(await running.ask(`conversations/${text}`));
  const forked = { responseId: responses[0]?.id };
  const fork = Forked.safeParse(await running.ask(`conversations/${text}/forks`, 'POST', forked));
  kept.forked = fork.data?.conversationId;
  return Object.fromEntries(Object.entries(kept).flatMap(([kind, id]) => (id ? [[kind, id]] : [])));
}

const Forked = z.object({ conversationId: z.string() });
const Begun = z.object({
  responses: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      documents: z.array(z.object({ content: z.unknown() })),
    }),
  ),
});

/** Sends a message, and waits until its answer stands where it shall stand when the milestone is killed. */
async function send(
  { ask }: Running,
  kind: Kind,
  more: { readonly conversationId?: string; readonly mode?: string } = {},
): Promise<string> {
  const messages = [{ role: 'user', content: `kind ${kind}` }];
  const id = await ask('chat/completions', 'POST', { messages, stream: true, ...more });
  if (typeof id !== 'string') throw new Error(`a message of the kind ${kind} was not taken`);
  for (let tries = 0; tries < 600; tries++) {
    const { responses } = Begun.parse(await ask(`conversations/${id}`));
    const last = responses.at(-1);
    const shown = String(last?.documents.at(-1)?.content ?? '').length;
    if (last?.status === 'completed') return id;
    if (kind === 'approval' && last?.status === 'waiting') return id;
    if (kind === 'work' && shown > 300) return id;
    await sleep(50);
  }
  throw new Error(`the kind ${kind} did not come to its place`);
}

async function startMilestone(program: string, state: string, modelUrl: string): Promise<Running> {
  const workspace = `${state}-workspace`;
  for (const folder of [workspace, state]) mkdirSync(folder, { mode: 0o700 });
  const rules = ['write', 'edit_file'].map((tool) => ({ tool, pattern: '**', decision: 'allow' }));
  const asked = { tool: 'run_terminal_cmd', pattern: '*', decision: 'ask' };
  writeFileSync(join(state, 'policy.json'), JSON.stringify({ rules: [...rules, asked] }));
  const secret = randomBytes(32).toString('base64url');
  writeFileSync(join(state, 'auth-secret'), secret, { mode: 0o600 });
  const args = ['up', '--port', '0', '--workspace', workspace, '--state', state, '--json'];
  const up = spawn(process.execPath, [join(program, 'bin', 'drawbridge.mjs'), ...args], {
    cwd: workspace,
    env: {
      ...process.env,
      OPENAI_BASE_URL: modelUrl,
      OPENAI_MODEL: 'scripted',
      OPENAI_API_KEY: 'sk-scripted',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: up.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  const { url, token } = Ready.parse(JSON.parse(line));
  return { up, ask: askerAt(url, token) };
}

/** Of a stream only the head is read: it names the conversation. */
function askerAt(url: string, token: string): Running['ask'] {
  return async (path, method = 'GET', body = undefined) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/v1/${path}`, { method, headers, ...text });
    const id = response.headers.get('drawbridge-conversation-id');
    if (response.ok && id) {
      await response.body?.cancel();
      return id;
    }
    if (response.status === 404 || response.status === 405) return null;
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : await response.json();
  };
}

const named = process.argv.slice(2);
const wanted = MILESTONES.filter(({ name }) =>
  named.length > 0 ? named.includes(name) : !existsSync(join(STATES, `${name}.tar.gz`)),
);
for (const milestone of wanted) await makeState(milestone);
