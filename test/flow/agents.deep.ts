import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import type { Agent } from '../../shared/api/agents.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, makeRepository, startHouse, until, workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({ prepare: makeRepository });

it('an agent works without a client, through a kill of the runtime, and takes a follow-up', async () => {
  let isKilled = false;
  const { house } = at;
  at.answerWith(({ messages }) => {
    const tools = messages.filter(({ role }) => role === 'tool').length;
    if (tools === 0) return { calls: [writing('a.txt', 'one\n')] };
    if (!isKilled) return { frames: [], hangs: true };
    const users = messages.filter(({ role }) => role === 'user').length;
    if (users === 1) return { text: 'Wrote it.' };
    return tools === 1 ? { calls: [writing('b.txt', 'two\n')] } : { text: 'And the other.' };
  });
  const { id, status } = await house.client.createAgent({
    prompt: 'Write a.txt',
    workspace: 'in_place',
  });
  expect(status).toBe('running');
  await until(() => at.requests().length === 2);
  isKilled = true;
  process.kill(workerdOf(house), 'SIGKILL');
  expect(await ended(house, id)).toMatchObject({ status: 'completed', result: 'Wrote it.' });
  expect(readFileSync(join(house.workspace, 'a.txt'), 'utf8')).toBe('one\n');

  await house.client.followUpAgent(id, { prompt: 'Write b.txt' });
  await until(async () => (await ended(house, id)).result === 'And the other.');
  expect(readFileSync(join(house.workspace, 'b.txt'), 'utf8')).toBe('two\n');
  const { responses } = await house.client.getConversation(id);
  expect(responses.map(({ documents }) => documents.map(({ type }) => type))).toEqual([
    ['file_edit', 'text'],
    ['file_edit', 'text'],
  ]);
  expect((await house.client.listAgents({ status: 'completed' })).items).toMatchObject([{ id }]);
  expect(await house.client.changeAgent(id, 'archive')).toMatchObject({ status: 'archived' });
  await house.client.deleteAgent(id);
  expect((await house.client.listAgents()).items).toEqual([]);
  for (const name of ['a.txt', 'b.txt']) rmSync(join(house.workspace, name));
});

it('an agent in a worktree leaves the folder as it is and ends with a commit, over kills and a follow-up', async () => {
  let hangs = true;
  const { house } = at;
  at.answerWith(({ messages }) => {
    const name = JSON.stringify(messages).includes('Write b.txt') ? 'b.txt' : 'a.txt';
    const isFirst = messages.at(-1)?.role !== 'tool';
    if (isFirst) return { calls: [writing(name, 'new\n')] };
    if (hangs) return { frames: [], hangs: true };
    return { text: 'Done.' };
  });
  const { id } = await house.client.createAgent({ prompt: 'Write a.txt', commit: true });
  await until(() => at.requests().length === 2);
  hangs = false;
  process.kill(workerdOf(house), 'SIGKILL');
  const done = await ended(house, id);
  expect(done).toMatchObject({ status: 'completed', result: 'Done.' });
  const { branch = '', committed, files, diff } = done.worktree ?? {};
  expect({ committed, files }).toEqual({
    committed: true,
    files: [{ path: 'a.txt', status: 'added', added: 1, removed: 0 }],
  });
  expect(diff).toContain('+new');
  expect(git(house, 'status', '--porcelain')).toBe('');
  expect(existsSync(join(house.workspace, 'a.txt'))).toBe(false);
  expect(git(house, 'show', `${branch}:a.txt`)).toBe('new\n');

  await house.client.followUpAgent(id, { prompt: 'Write b.txt' });
  await until(async () => (await ended(house, id)).worktree?.files?.length === 2);
  expect(git(house, 'show', `${branch}:b.txt`)).toBe('new\n');
  expect(git(house, 'status', '--porcelain')).toBe('');
});

it('an agent that was stopped in a worktree shows its difference without a commit, and goes on later', async () => {
  let hangs = true;
  const { house } = at;
  at.answerWith(({ messages }) => {
    if (messages.at(-1)?.role !== 'tool' && hangs) return { calls: [writing('a.txt', 'half\n')] };
    return hangs ? { frames: [], hangs: true } : { text: 'Done.' };
  });
  const { id } = await house.client.createAgent({ prompt: 'Write a.txt', commit: true });
  await until(() => at.requests().length === 2);
  process.kill(workerdOf(house), 'SIGKILL');
  await until(async () => (await house.client.changeAgent(id, 'stop').catch(() => null)) !== null);
  await until(async () => (await ended(house, id)).worktree?.diff !== undefined);
  const { status, worktree } = await ended(house, id);
  expect({ status, ...worktree }).toMatchObject({
    status: 'cancelled',
    committed: false,
    diff: expect.stringContaining('+half'),
    files: [{ path: 'a.txt', status: 'added' }],
  });
  expect(git(house, 'branch', '--list', worktree?.branch ?? '')).toBe('');

  hangs = false;
  await house.client.followUpAgent(id, { prompt: 'Go on' });
  await until(async () => (await ended(house, id)).worktree?.committed === true);
  expect(git(house, 'show', `${worktree?.branch}:a.txt`)).toBe('half\n');
});

it('an agent in a worktree and its subagents get the worktree, and not the person’s folder', async () => {
  const task = { description: 'Write', prompt: 'Write c.txt', subagent_type: 'generalPurpose' };
  const { house } = at;
  at.answerWith(({ messages }) => {
    const said = JSON.stringify(messages.slice(1));
    if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
    if (said.includes('Write c.txt')) return { calls: [writing('c.txt', 'c\n')] };
    return said.includes('Go on')
      ? { text: 'Done.' }
      : { calls: [{ name: 'task', arguments: task }] };
  });
  writeFileSync(join(house.workspace, 'mine.ts'), 'mine\n');
  const { id } = await house.client.createAgent({
    prompt: 'See @mine.ts and @old.txt',
    branch: 'fix',
    commit: true,
  });
  const { worktree } = await ended(house, id);
  expect(worktree?.files).toMatchObject([{ path: 'c.txt', status: 'added' }]);
  const sent = at
    .requests()
    .slice(0, 2)
    .map(({ messages }) => JSON.stringify(messages));
  for (const text of sent) {
    expect(text).toContain('<project_layout>\\nold.txt\\n</project_layout>');
    expect(text).toContain('<git_status>\\n## fix\\n');
  }
  expect(sent[0]).toMatch(/<attached_file>\\nold\.txt/);
  expect(sent[0]).toMatch(/<not_attached>\\nmine\.ts/);
  const { responses } = await house.client.getConversation(id);
  expect(responses[0]?.metadata.attachments).toMatchObject([
    { type: 'none', name: 'mine.ts' },
    { type: 'file', name: 'old.txt' },
  ]);

  await house.client.followUpAgent(id, { prompt: 'Go on' });
  const lastSent = () => JSON.stringify(at.requests().at(-1)?.messages.slice(1));
  await until(async () => lastSent().includes('Go on'));
  expect(lastSent()).toContain('<project_layout_changes>\\n+ c.txt');
  expect(lastSent()).not.toContain('+ mine.ts');
  await ended(house, id);
});

it('an agent on a folder that is no repository ends with the reason, and works once it is one', async () => {
  const { house } = at;
  at.answerWith(() => ({ text: 'Done.' }));
  renameSync(join(house.workspace, '.git'), join(house.workspace, 'away'));
  const { id } = await house.client.createAgent({ prompt: 'Go' });
  expect(await ended(house, id)).toMatchObject({ error: { code: 'NOT_A_REPOSITORY' } });
  expect(at.requests()).toEqual([]);
  renameSync(join(house.workspace, 'away'), join(house.workspace, '.git'));
  await house.client.followUpAgent(id, { prompt: 'Again' });
  await until(async () => (await ended(house, id)).status === 'completed');
  expect(await house.client.getAgent(id)).toMatchObject({ result: 'Done.', worktree: {} });
});

/** The repository belongs to another user where root runs the tests. */
function git({ workspace }: House, ...args: string[]): string {
  const trusting = ['-c', `safe.directory=${workspace}`, ...args];
  return execFileSync('git', trusting, { cwd: workspace, encoding: 'utf8' });
}

it('a receiver on this machine, which the operator has named, gets signed events', async () => {
  const events: string[] = [];
  let secret = '';
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const headers = request.headers as Record<string, string>;
    const { type } = new Webhook(secret).verify(body, headers) as { type: string };
    events.push(type);
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void receiver.close());
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook`;
  secret = `whsec_${btoa('a secret of the owner, long enough')}`;

  const model = await startScriptedModel(() => ({ text: 'Done.' }));
  onTestFinished(() => model.close());
  const variables = { WEBHOOK_ORIGINS: `http://127.0.0.1:${port}` };
  await using house = await startHouse({
    modelUrl: model.baseUrl,
    variables,
    args: ['--no-bridge'],
  });
  const { id } = await house.client.createAgent({ prompt: 'Go', webhook: { url, secret } });
  await until(() => events.length === 2);
  expect(events).toEqual(['agent.running', 'agent.completed']);
  await until(async () =>
    (await house.client.listDeliveries(id)).items.every(({ state }) => state === 'delivered'),
  );
  const other = { url: url.replace('127.0.0.1', 'localhost') };
  const refused = house.client.createAgent({ prompt: 'Go', webhook: other });
  await expect(refused).rejects.toMatchObject({ code: 'WEBHOOK_NOT_ALLOWED' });
});

function writing(path: string, contents: string) {
  return { name: 'write', arguments: { path, contents } };
}

/** The agent once it is over, read while the runtime may be restarting. */
async function ended({ client }: House, id: string): Promise<Agent> {
  let agent: Agent | undefined;
  await until(async () => {
    agent = await client.getAgent(id).catch(() => undefined);
    return ['completed', 'error', 'cancelled'].includes(agent?.status ?? '');
  });
  if (!agent) throw new Error('unreachable');
  return agent;
}
