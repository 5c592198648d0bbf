import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { deviceOf } from './allowing.ts';
import { type House, until, workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({
  rules: [
    { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
    { tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' },
  ],
  prepare: (workspace) => writeFileSync(join(workspace, 'a.txt'), 'text\n'),
});

type Script = Readonly<Record<string, readonly ScriptedAnswer[]>>;

it('explores at the bridge with four at once, none of which can change a file', async () => {
  const write = { name: 'write', arguments: { file_path: 'not-made.txt', content: 'no' } };
  const read = { name: 'read_file', arguments: { target_file: 'a.txt' } };
  const names = ['one', 'two', 'three', 'four'];
  const tasks = names.map((name) => taskCall(name, 'explore'));
  answerBy({
    go: [{ calls: tasks }, { text: 'All explored.' }],
    ...Object.fromEntries(
      names.map((name) => [name, [{ calls: [read, write] }, { text: `Read by ${name}.` }]]),
    ),
  });
  const response = await at.house.client.chat({ messages: [{ role: 'user', content: 'go' }] });
  expect(response.status).toBe('completed');
  const results = response.documents.map(({ metadata }) => metadata['result']);
  expect(results.slice(0, names.length)).toEqual(
    names.map((name) => ({ status: 'success', data: `Read by ${name}.` })),
  );
  expect(existsSync(join(at.house.workspace, 'not-made.txt'))).toBe(false);
  const children = await Promise.all(childrenOf(response).map((id) => newest(at.house, id)));
  for (const { mode, documents } of children) {
    expect(mode).toBe('ask');
    expect(documents[0]?.metadata['result']).toMatchObject({ status: 'success' });
    const codes = documents.map(({ metadata }) => metadata['errorCode']);
    expect(codes).toContain('READ_ONLY_MODE');
  }
});

it('runs a command of a subagent that a second client allows, which follows only the root', async () => {
  const command = { name: 'run_terminal_cmd', arguments: { command: 'touch made.txt' } };
  answerBy({
    go: [{ calls: [taskCall('make it', 'generalPurpose')] }, { text: 'Made.' }],
    'make it': [{ calls: [command] }, { text: 'It is there.' }],
  });
  const { house } = at;
  const first = house.client.streamChat({ messages: [{ role: 'user', content: 'go' }] });
  let conversationId = '';
  const reading = (async () => {
    for await (const { event } of first) {
      if (event.type === 'response_start') conversationId = event.response.conversationId;
    }
  })();
  await until(() => conversationId !== '');
  const leave = new AbortController();
  const second = house.client.followConversation(conversationId, { signal: leave.signal });
  const { ask } = await firstOf(second, 'subagent_ask');
  if (ask.kind !== 'approval') throw new Error('no approval was asked for');
  expect(ask.conversationId).not.toBe(conversationId);
  await house.client.allowCall(ask, deviceOf(house));
  await reading;
  leave.abort();
  expect(existsSync(join(house.workspace, 'made.txt'))).toBe(true);
  expect((await newest(house, conversationId)).status).toBe('completed');
});

it('loses and doubles nothing when the runtime is killed while subagents work', async () => {
  const command = (name: string) => ({
    name: 'run_terminal_cmd',
    arguments: { command: `echo ${name} >> runs.txt; sleep 2; echo over` },
  });
  const names = ['left', 'right'];
  answerBy({
    go: [{ calls: names.map((name) => taskCall(name, 'generalPurpose')) }, { text: 'Both ran.' }],
    ...Object.fromEntries(
      names.map((name) => [name, [{ calls: [command(name)] }, { text: `${name} ran.` }]]),
    ),
  });
  const { house } = at;
  const runs = () => {
    const path = join(house.workspace, 'runs.txt');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').sort() : [];
  };
  const answered = (async () => {
    const events: ReadEvent[] = [];
    const messages = [{ role: 'user' as const, content: 'go' }];
    for await (const { event } of house.client.streamChat({ messages })) events.push(event);
    return events;
  })();
  await until(() => runs().length === names.length);
  process.kill(workerdOf(house), 'SIGKILL');
  const events = await answered;
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
  expect(runs()).toEqual(names);
  const results = events.flatMap((event) => (event.type === 'tool_result' ? event.result : []));
  // In the order in which they ended.
  const sorted = results.toSorted((a, b) => String(a.data).localeCompare(String(b.data)));
  expect(sorted).toEqual(names.map((name) => ({ status: 'success', data: `${name} ran.` })));
});

function taskCall(prompt: string, type: string) {
  const args = { description: `Do ${prompt}`, prompt, subagent_type: type };
  return { name: 'task', arguments: args };
}

function answerBy(script: Script): void {
  at.answerWith((request) => answerOf(script, request));
}

/** The model knows each agent by its task. */
function answerOf(script: Script, { messages }: ScriptedRequest): ScriptedAnswer {
  const said = messages.filter(({ role }) => role === 'user').map((one) => JSON.stringify(one));
  const task = said.flatMap(
    (text) => /<user_query>\\n(.*?)\\n<\/user_query>/.exec(text)?.[1] ?? [],
  );
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const answer = script[task.at(-1) ?? '']?.[turn];
  if (!answer) throw new Error(`no turn ${turn} for ${said.at(-1)}`);
  return answer;
}

function childrenOf({ documents }: ChatResponse): string[] {
  return documents.flatMap(({ metadata }) => {
    const id = Object(metadata['subagent'])['conversationId'];
    return typeof id === 'string' ? [id] : [];
  });
}

async function newest(house: House, conversationId: string): Promise<ChatResponse> {
  const response = (await house.client.getConversation(conversationId)).responses.at(-1);
  if (!response) throw new Error('there is no response');
  return response;
}

async function firstOf<Type extends StreamEvent['type']>(
  stream: AsyncIterable<{ readonly event: ReadEvent }>,
  type: Type,
): Promise<Extract<StreamEvent, { type: Type }>> {
  for await (const { event } of stream) {
    if (event.type === type) return event as Extract<StreamEvent, { type: Type }>;
  }
  throw new Error(`the stream ended without ${type}`);
}
