import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeRepository, PROGRAM } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({
  prepare: makeRepository,
  rules: [{ tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' }],
});

let client: Client;

beforeEach(async () => {
  const [command, ...words] = PROGRAM;
  const { state, workspace } = at.house;
  rmSync(join(workspace, 'made.txt'), { force: true });
  client = new Client({ name: 'test', version: '1' });
  const args = [...words, 'mcp', 'serve', '--state', state];
  await client.connect(new StdioClientTransport({ command, args, cwd: workspace }));
});

afterEach(() => client.close());

async function call(name: string, args: object = {}): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const [first] = content as { text: string }[];
  return `${isError ? 'error: ' : ''}${first?.text}`;
}

const idIn = (text: string) => /conv_\S+/.exec(text)?.[0] ?? '';

it('starts an agent, follows it to its end, and lists it', async () => {
  at.answerWith([{ text: 'All is done.' }]);
  const started = await call('start_agent', { prompt: 'do it', title: 'A task' });
  const id = idIn(started);
  expect(await call('follow_agent', { id, seconds: 30 })).toContain('All is done.');
  expect(await call('get_agent', { id })).toMatch(/\tcompleted\t/);
  expect(await call('list_agents')).toContain('A task');
  at.answerWith([{ text: 'More is done.' }]);
  await call('steer_agent', { id, prompt: 'and more' });
  await vi.waitFor(async () => expect(await call('get_agent', { id })).toContain('More is done.'));
});

it('shows what waits for a person, and can neither allow nor answer it', async () => {
  at.answerWith([
    { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'touch made.txt' } }] },
    { text: 'Not reached.' },
  ]);
  const id = idIn(await call('start_agent', { prompt: 'touch it', in_place: true }));
  expect(await call('follow_agent', { id, seconds: 30 })).toContain('\twaiting\t');
  const waiting = await call('list_waiting');
  expect(waiting).toContain(id);
  expect(waiting).toContain('touch made.txt');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['start_agent', 'get_agent', 'follow_agent', 'steer_agent', 'stop_agent', 'list_agents'],
    'list_waiting',
  ]);
  await expect(call('approve_call', { id })).rejects.toThrow(
    /There is no tool "approve_call".* No tool approves a call.*drawbridge approvals/,
  );
  await call('stop_agent', { id });
  await vi.waitFor(async () => expect(await call('get_agent', { id })).toContain('\tcancelled\t'));
});

it.each([
  ['get_agent', { id: 'nonsense' }, 'error: ✖'],
  ['get_agent', { id: 'conv_00000000-0000-4000-8000-000000000000' }, 'error: error NOT_FOUND'],
  ['start_agent', { prompt: '' }, 'error: ✖'],
  ['start_agent', { prompt: 'x', approve: true }, 'error: ✖'],
])('refuses %s of %j with a reason for the model', async (name, args, why) => {
  expect(await call(name, args)).toContain(why);
});
