import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, makeRepository, startHouse, until, workerdOf } from '../flow/house.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { row } from './table.ts';

const VERSION = '1.0.18';
const stated = row({ suite: '@cursor/sdk', version: VERSION, notRun: NO_REGISTRY });

/** The part of the SDK that is used here. It is Cursor's property, so its types are not copied. */
interface Sdk {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly Agent: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly Cursor: any;
}

describe('Cursor’s own SDK, with this server as its cloud', stated, () => {
  let packages: ForeignPackages;
  let model: ScriptedModel;
  let house: House;
  let sdk: Sdk;
  let options: { readonly apiKey: string };
  let machine: object;
  let isKilled = false;

  beforeAll(async () => {
    packages = await installPackages([`@cursor/sdk@${VERSION}`]);
    // Its store of local agents, which nothing here uses, needs a native module that scripts would build.
    const sqlite = join(packages.folder, 'node_modules', 'sqlite3', 'lib', 'sqlite3.js');
    writeFileSync(sqlite, 'module.exports = { Database: class {} };\n');
    model = await startScriptedModel(({ messages }) => {
      const asked = messages.findLast(({ role }) => role === 'user');
      if (JSON.stringify(asked).includes('Wait')) return { frames: [], hangs: true };
      const isSecond = messages.at(-1)?.role === 'tool';
      const waits = isSecond && !isKilled && JSON.stringify(asked).includes('Be killed');
      if (waits) return { frames: [], hangs: true };
      if (isSecond) return { text: 'Wrote it, in `main`.', chunkChars: 4 };
      const args = { path: 'a.txt', contents: 'one\n' };
      return { text: 'I write.', calls: [{ name: 'write', arguments: args }] };
    });
    house = await startHouse({ modelUrl: model.baseUrl, prepare: makeRepository });
    // The SDK reads it when it is loaded.
    process.env['CURSOR_BACKEND_URL'] = house.ready.url;
    const entry = createRequire(join(packages.folder, 'index.js')).resolve('@cursor/sdk');
    sdk = await import(pathToFileURL(entry).href);
    options = { apiKey: house.ready.token };
    machine = { ...options, name: 'Night', cloud: { env: { type: 'machine' } } };
  });

  afterAll(async () => {
    delete process.env['CURSOR_BACKEND_URL'];
    await house?.[Symbol.asyncDispose]();
    await model?.close();
    await packages?.[Symbol.asyncDispose]();
  });

  it('reads the account and the models', async () => {
    expect(await sdk.Cursor.me(options)).toMatchObject({ apiKeyName: expect.any(String) });
    const [first] = await sdk.Cursor.models.list(options);
    expect(first).toEqual({ id: expect.any(String), displayName: first.id });
  });

  it('creates an agent, streams its run to the end, and follows up', async () => {
    const [{ id }] = await sdk.Cursor.models.list(options);
    const agent = await sdk.Agent.create({ ...machine, model: { id } });
    const run = await agent.send('Write a.txt');
    expect(run.agentId).toBe(agent.agentId);
    const messages: unknown[] = [];
    for await (const message of run.stream()) messages.push(message);
    expect(wordsIn(messages)).toBe('I write.\n\nWrote it, in `main`.');
    expect(callsIn(messages)).toEqual([
      ...['open_worktree running', 'open_worktree completed'],
      ...['write running', 'write completed'],
      ...['close_worktree running', 'close_worktree completed'],
    ]);
    expect(await run.wait()).toMatchObject({
      id: run.id,
      status: 'finished',
      result: 'Wrote it, in `main`.',
      durationMs: expect.any(Number),
    });
    const [turn] = await run.conversation();
    expect(turn.turn.steps.map(stepOf)).toEqual([
      'open_worktree',
      ...['I write.', 'write', '\n\nWrote it, in `main`.'],
      'close_worktree',
    ]);

    const deltas: string[] = [];
    const again = await agent.send('Write it again', {
      onDelta: ({ update }: { update: { type: string; text?: string } }) => {
        if (update.type === 'text-delta') deltas.push(update.text ?? '');
      },
    });
    expect(await again.wait()).toMatchObject({ status: 'finished' });
    expect(deltas.join('')).toBe('I write.\n\nWrote it, in `main`.');
    const runs = await sdk.Agent.listRuns(agent.agentId, { ...options, runtime: 'cloud' });
    expect(runs.items).toMatchObject([
      { id: again.id, status: 'finished' },
      { id: run.id, status: 'finished' },
    ]);
    agent.close();
  });

  it('goes on where it was when the server is killed in the middle of a run', async () => {
    const agent = await sdk.Agent.create(machine);
    const run = await agent.send('Be killed');
    const messages: unknown[] = [];
    const reading = (async () => {
      for await (const message of run.stream()) messages.push(message);
    })();
    await until(() => killedAt() === 2 && callsIn(messages).includes('write completed'));
    isKilled = true;
    process.kill(workerdOf(house), 'SIGKILL');
    await reading;
    expect(wordsIn(messages)).toBe('I write.\n\nWrote it, in `main`.');
    expect(callsIn(messages).filter((call) => call === 'write completed')).toHaveLength(1);
    expect(await run.wait()).toMatchObject({ status: 'finished', result: 'Wrote it, in `main`.' });
    agent.close();
  });

  it('sees a second client’s message as busy, and cancels', async () => {
    const agent = await sdk.Agent.create(machine);
    const run = await agent.send('Wait');
    await until(async () => (await statusOf(run)) === 'running');
    const second = await sdk.Agent.resume(agent.agentId, options);
    await expect(second.send('More')).rejects.toMatchObject({ code: 'agent_busy' });
    await run.cancel();
    expect(run.status).toBe('cancelled');
    await until(async () => (await statusOf(run)) === 'cancelled');
    await expect(
      sdk.Agent.cancelRun(run.id, { ...options, runtime: 'cloud', agentId: agent.agentId }),
    ).rejects.toMatchObject({ code: 'run_not_cancellable' });
    agent.close();
  });

  it('lists, archives and deletes', async () => {
    const agent = await sdk.Agent.create({ ...machine, name: 'Listed' });
    await (await agent.send('Write a.txt')).wait();
    const { items } = await sdk.Agent.list({ ...options, runtime: 'cloud' });
    expect(items[0]).toMatchObject({ name: 'Listed', archived: false, runtime: 'cloud' });
    const { agentId } = agent;
    await sdk.Agent.archive(agentId, options);
    expect(await sdk.Agent.get(agentId, options)).toMatchObject({ agentId, archived: true });
    const all = { ...options, runtime: 'cloud', includeArchived: true };
    expect((await sdk.Agent.list(all)).items[0]).toMatchObject({ name: 'Listed', archived: true });
    await expect(agent.send('More')).rejects.toMatchObject({ code: 'agent_archived' });
    await sdk.Agent.unarchive(agentId, options);
    await sdk.Agent.delete(agentId, options);
    await expect(sdk.Agent.get(agentId, options)).rejects.toMatchObject({ code: 'not_found' });
    agent.close();
  });

  it('learns what this server does not do', async () => {
    const repos = [{ url: 'https://github.com/a/b' }];
    const agent = await sdk.Agent.create({ ...options, cloud: { repos } });
    await expect(agent.send('Go')).rejects.toMatchObject({ code: 'not_implemented' });
    const denied = sdk.Cursor.me({ apiKey: 'wrong' });
    await expect(denied).rejects.toMatchObject({ name: 'AuthenticationError', status: 401 });
  });

  /** How often the model was asked in the run that is killed. */
  function killedAt(): number {
    return model.requests.filter(({ messages }) => JSON.stringify(messages).includes('Be killed'))
      .length;
  }

  async function statusOf({ id, agentId }: { id: string; agentId: string }): Promise<string> {
    return (await sdk.Agent.getRun(id, { ...options, runtime: 'cloud', agentId })).status;
  }
});

// biome-ignore lint/suspicious/noExplicitAny: what the SDK says has no type here.
function wordsIn(messages: readonly any[]): string {
  const said = messages.filter(({ type }) => type === 'assistant');
  return said.map(({ message }) => message.content[0].text).join('');
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function callsIn(messages: readonly any[]): string[] {
  const calls = messages.filter(({ type }) => type === 'tool_call');
  return calls.map(({ name, status }) => `${name} ${status}`);
}

/** The words of a step, or the name of its tool. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
function stepOf({ message }: any): string {
  return message.text ?? message.args.toolName;
}
