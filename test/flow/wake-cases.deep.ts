import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { RUNS_OBJECT } from '../../local/runtime/wake.ts';
import { uniqueKeyOf } from '../../local/runtime/workerd-config.ts';
import { mintToken } from '../../local/state/tokens.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { deep } from '../depth.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { isAlive, treeOf } from '../local/processes.ts';
import { type House, startHouse, until, workerdOf } from './house.ts';
import { type OneHouse, oneHouse } from './one-house.ts';

const LONG = Array.from({ length: 300 }, () => 'word').join(' ');

// A house takes four kills in ten seconds; the fifth is a crash loop.
describe('a run goes on for a client that only polls', () => {
  const at = oneHouse({
    prepare: (workspace) =>
      writeFileSync(join(workspace, 'task.sh'), 'echo ran >> runs.txt; sleep 1\n'),
  });

  it('after a kill in the middle of a text', async () => {
    const run = await startConversation(at, () => ({ text: LONG, delayMs: 10 }));
    await until(async () => textOf(await run.poll()).length > 100);
    await killWorkerd(at);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe(LONG);
    expect(at.requests().length).toBe(2);
  });

  it('after a kill before the first word', async () => {
    const run = await startConversation(at, (number) =>
      number === 0 ? { frames: [], hangs: true } : { text: 'Hello.' },
    );
    await until(() => at.requests().length === 1);
    await killWorkerd(at);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe('Hello.');
  });

  it('after a kill while a command runs', async () => {
    const run = await startConversation(at, (number) =>
      number === 0
        ? { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'sh task.sh' } }] }
        : { text: 'It ran.' },
    );
    const runs = join(at.house.workspace, 'runs.txt');
    await until(() => existsSync(runs));
    await killWorkerd(at);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe('It ran.');
    expect(readFileSync(runs, 'utf8')).toBe('ran\n');
  });
});

describe('a run goes on without a reader', () => {
  const at = oneHouse();

  it('after a kill', async () => {
    const run = await startConversation(at, (number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests().length === 1);
    await killWorkerd(at);
    await until(() => at.requests().length === 2);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe('Whole.');
  });

  it('with a message that waits behind one that is cut off', async () => {
    const run = await startConversation(at, (number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests().length === 1);
    const { conversationId } = await run.poll();
    const second = await at.house.fetch('/api/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ ...ASKED, conversationId }),
    });
    await second.body?.cancel();
    await killWorkerd(at);
    await until(() => at.requests().length === 3);
  });

  it('at the next start after everything was killed', async () => {
    await startConversation(at, (number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests().length === 1);
    const workerd = workerdOf(at.house);
    at.house.up.kill('SIGKILL');
    await until(() => !isAlive(workerd));
    removeAlarms(at.house);
    await using _ = await startHouse({ modelUrl: at.model.baseUrl, folder: at.house.folder });
    await until(() => at.requests().length === 2);
  });
});

/** Another Node of this machine, such as the oldest one that the program runs on; none where it is too old. */
const OTHER_NODE = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
  return existsSync(path) && isSupported(execFileSync(path, ['--version'], { encoding: 'utf8' }));
});

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

/** More in one account than are woken at a time, and more than one account. */
const ACCOUNTS = ['local', 'dora', ...Array.from({ length: 40 }, (_, n) => `p${n}`)];
const RUNS = 130;

describe.each([
  ['this Node', undefined],
  ['another Node of this machine', OTHER_NODE],
] as const)('what is in progress goes on, on %s', (name, node) => {
  const at = oneHouse({
    args: ['--no-bridge'],
    ...(node !== undefined && { node }),
    variables: { RATE_LIMIT_RUNS_PER_MINUTE: '0', RATE_LIMIT_REQUESTS_PER_MINUTE: '0' },
  });
  const isAbsent = node === undefined && name !== 'this Node';

  it.skipIf(isAbsent)('which is the one that runs the program', () => {
    const programs = treeOf(at.house.up.pid ?? 0)
      .map(({ command }) => command)
      .filter((command) => command.includes('drawbridge.mjs'));
    const ours = programs.filter((command) => command.startsWith(`${node ?? process.execPath} `));
    expect(ours).toEqual(programs);
  });

  it.skipIf(isAbsent)('for agents of every account, with no one reading', async () => {
    const asked = new Map<string, number>();
    at.answerWith(({ messages }) => {
      const run = String(messages.at(-1)?.content).match(/run \d+/)?.[0] ?? '';
      asked.set(run, (asked.get(run) ?? 0) + 1);
      return { frames: [], hangs: true };
    });
    const secret = readFileSync(join(at.house.state, 'auth-secret'), 'utf8');
    const runs = Array.from({ length: RUNS }, (_, number) => `run ${number}`);
    for (const [number, run] of runs.entries()) {
      const account = ACCOUNTS[number % ACCOUNTS.length] ?? '';
      const token = await mintToken(secret, { scope: 'user' }, new Date(), { account });
      const client = createClient({ url: at.house.ready.url, token });
      await client.createAgent({ prompt: `This is ${run}.`, workspace: 'in_place' });
    }
    await until(() => runs.every((run) => asked.get(run) === 1));
    // A run is noted beside its first request: a kill between the two leaves it to its alarm.
    await until(() => runsNoted(at.house).length === RUNS);
    await killWorkerd(at);
    const killed = performance.now();
    await until(() => runs.every((run) => asked.get(run) === 2));
    console.log('ms from the kill until all were asked again', performance.now() - killed);
  });
});

describe('the list of what is in progress', () => {
  const at = oneHouse({ args: ['--no-bridge'] });

  it('has each run once, and none that has ended, was cancelled or was deleted', async () => {
    const { client, up } = at.house;
    at.answerWith(({ messages }) =>
      JSON.stringify(messages).includes('Hang') ? { frames: [], hangs: true } : { text: 'Done.' },
    );
    const workspace = 'in_place' as const;
    const begin = async (prompt: string) => (await client.createAgent({ prompt, workspace })).id;
    const ended = await begin('Say it');
    const [stopped, deleted, hanging] = [
      await begin('Hang'),
      await begin('Hang'),
      await begin('Hang'),
    ];
    await until(() => at.requests().length === 4);
    await client.followUpAgent(hanging, { prompt: 'Wait for the first' });
    await until(async () => (await client.getAgent(ended)).status === 'completed');
    await client.changeAgent(stopped, 'stop');
    await client.deleteAgent(deleted);
    up.kill('SIGKILL');
    await once(up, 'exit');
    expect(runsNoted(at.house)).toEqual([hanging]);
  });
});

describe('an answer that no one watches', () => {
  const at = oneHouse({ args: ['--no-bridge'] });

  // The runtime ends an object that nothing holds after ten seconds, and looks after all others each 70 seconds.
  it('keeps its object for longer than the runtime keeps an idle one', async () => {
    // With DEPTH=10 for more than a quarter of an hour.
    const text = Array.from({ length: deep(100) }, (_, second) => `word${second}`).join(' ');
    at.answerWith(() => ({ text, delayMs: 1_000 }));
    const { client } = at.house;
    const { id } = await client.createAgent({ prompt: 'Say it', workspace: 'in_place' });
    await sleep(text.split(' ').length * 1_000);
    await until(async () => (await client.getAgent(id)).status === 'completed');
    expect((await client.getAgent(id)).result).toBe(text);
    expect(at.requests()).toHaveLength(1);
  });
});

const ASKED = { messages: [{ role: 'user', content: 'Go on' }], stream: true };

/** A response in progress whose client has left. */
async function startConversation(at: OneHouse, script: (number: number) => ScriptedAnswer) {
  const { house } = at;
  at.answerWith((_, number) => script(number));
  const started = await house.fetch('/api/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(ASKED),
  });
  const responseId = started.headers.get('drawbridge-response-id') ?? '';
  await started.body?.cancel();
  const poll = async () => await house.client.getResponse(responseId);
  return {
    poll,
    pollToEnd: async () =>
      until(async () => (await poll().catch(() => null))?.status === 'completed'),
  };
}

function textOf({ documents }: ChatResponse): string {
  return documents.map(({ type, content }) => (type === 'text' ? content : '')).join('');
}

/** What goes on afterwards was woken by the start: the new workerd knows of no alarm. */
async function killWorkerd({ house }: OneHouse): Promise<void> {
  const pid = workerdOf(house);
  // So that the new one starts only after the alarms are gone.
  house.up.kill('SIGSTOP');
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid));
  removeAlarms(house);
  house.up.kill('SIGCONT');
}

/** What the server would wake. */
function runsNoted({ state }: House): unknown[] {
  const folder = join(state, 'storage', uniqueKeyOf(RUNS_OBJECT.className));
  const [file = ''] = readdirSync(folder).filter((name) => /^[0-9a-f]+\.sqlite$/.test(name));
  using database = new DatabaseSync(join(folder, file));
  const rows = database.prepare('select conversation from runs').all();
  return rows.map((row) => row['conversation']);
}

function removeAlarms({ state }: House): void {
  const storage = join(state, 'storage');
  for (const folder of readdirSync(storage)) {
    using alarms = new DatabaseSync(join(storage, folder, 'metadata.sqlite'));
    alarms.exec('delete from _cf_ALARM');
  }
}
