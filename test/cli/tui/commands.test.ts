import { expect, it } from 'vitest';
import type { CommandDesk } from '../../../cli/tui/commands/command.ts';
import { runCommand } from '../../../cli/tui/commands/commands.ts';
import { BRIDGE_ID, CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { newDevice } from '../chat/scripted-chat.ts';
import { openWriter } from './open-writer.ts';

const TIME = '2026-11-20T12:00:00Z';
const SERVER = {
  id: 'proc_1',
  conversationId: CONVERSATION_ID,
  command: 'npm run dev',
  folder: '.',
  running: true,
  started: TIME,
  lastLine: 'ready in 300 ms',
};
const PROCESSES = `GET bridges/${BRIDGE_ID}/processes`;
const CHILD_ID = 'conv_00000000-0000-4000-8000-000000090000';
const BELOW_ID = 'conv_00000000-0000-4000-8000-000000100000';
const AGENT = {
  id: CONVERSATION_ID,
  title: 'Fix it',
  status: 'running',
  created: TIME,
  updated: TIME,
};

it('lists what runs in the background with its ports, its age and its last line', async () => {
  const { api, desk, asked } = await openWriter({ bridgeId: BRIDGE_ID });
  const ended = { ...SERVER, id: 'proc_2', running: false, end: 'exit code 0' };
  const ports = [{ port: 3000, address: 'http://127.0.0.1:4711' }];
  api.answers.set(PROCESSES, { items: [{ ...SERVER, ports }, ended] });
  await runCommand('/processes', desk());
  expect(asked).toEqual([
    {
      title: 'What runs in the background',
      items: [
        {
          value: 'proc_1',
          label: 'npm run dev',
          description: expect.stringMatching(
            /^port 3000 at http:\/\/127\.0\.0\.1:4711 · .* · ready in 300 ms$/,
          ),
        },
      ],
    },
  ]);
});

it('stops a process of the list', async () => {
  const { api, desk, said } = await openWriter({ bridgeId: BRIDGE_ID, choice: ['proc_1', 'stop'] });
  api.answers.set(PROCESSES, { items: [SERVER] });
  api.answers.set(`POST bridges/${BRIDGE_ID}/processes/proc_1/stop`, SERVER);
  await runCommand('/processes', desk());
  expect(said).toEqual(['Stopped: npm run dev']);
});

it('opens the port that the person writes', async () => {
  const { api, desk, said, writer } = await openWriter({
    bridgeId: BRIDGE_ID,
    choice: ['proc_1', 'open'],
    device: await newDevice(),
  });
  api.answers.set(PROCESSES, { items: [SERVER] });
  await runCommand('/processes', desk());
  expect(writer.composer.getText()).toBe('/processes proc_1 ');
  expect(said).toEqual(['Write the port behind the id of the process.']);
  const lastLine = 'ready at http://localhost:5173/';
  api.answers.set(PROCESSES, { items: [{ ...SERVER, lastLine }] });
  const ports = [{ port: 5173, address: 'http://127.0.0.1:4711' }];
  api.answers.set(`POST bridges/${BRIDGE_ID}/processes/proc_1/ports`, { ...SERVER, ports });
  await runCommand('/processes proc_1 5173', desk());
  expect(said.at(-1)).toMatch(/\nhttp:\/\/127\.0\.0\.1:4711$/);
  await expect(async () => runCommand('/processes proc_1 x', desk())).rejects.toThrow('A port is');
});

it('shows subagents below their agent, at any depth, and follows or stops one', async () => {
  const { api, desk, asked, session } = await openWriter({ choice: [CHILD_ID, 'follow'] });
  api.answers.set('GET agents?limit=100', { items: [AGENT], nextCursor: null });
  const [child, below] = [subagent(CHILD_ID, 'streaming'), subagent(BELOW_ID, 'completed')];
  api.answers.set(`GET conversations/${CONVERSATION_ID}?limit=1`, viewOf(CONVERSATION_ID, child));
  api.answers.set(`GET conversations/${CHILD_ID}?limit=1`, viewOf(CHILD_ID, below));
  await runCommand('/agents', desk());
  expect(asked[0]?.items).toMatchObject([
    { value: CONVERSATION_ID, label: 'Fix it' },
    { value: CHILD_ID, label: '└─ explore: Look around', description: 'streaming' },
    { value: BELOW_ID, label: '└─── explore: Look around', description: 'completed' },
  ]);
  expect(session.chat.conversationId).toBe(CHILD_ID);
});

it('has the conversation summarised by the model of its next message', async () => {
  const { api, desk, session, said } = await openWriter({
    conversationId: CONVERSATION_ID,
    model: 'm',
  });
  await runCommand('/compact', desk());
  expect(said).toEqual(['There is nothing to summarise yet.']);
  await expect.poll(() => session.view?.id).toBe(CONVERSATION_ID);
  session.view?.responses.push(viewOf(CONVERSATION_ID).responses[0] as never);
  const line = `POST conversations/${CONVERSATION_ID}/compact`;
  api.answers.set(line, {});
  await runCommand('/compact', desk()).catch(() => {});
  expect(api.requests.find((request) => request.line === line)?.body).toMatchObject({
    model: 'm',
    stream: true,
  });
});

function subagent(conversationId: string, status: string): object {
  const state = { type: 'explore', model: 'm', turnCount: 1, toolCallCount: 0 };
  return {
    id: 'doc_001',
    type: 'tool_call',
    sequence: 1,
    content: null,
    metadata: {
      toolName: 'task',
      arguments: { description: 'Look around' },
      subagent: { ...state, conversationId, status },
    },
  };
}

function viewOf(id: string, ...documents: object[]) {
  const metadata = { duration_ms: 0, toolCallCount: 1, turnCount: 1 };
  const response = {
    id: RESPONSE_ID,
    conversationId: id,
    model: 'm',
    mode: 'agent',
    created: TIME,
    status: 'completed',
    documents,
    usage: null,
    metadata,
  };
  return {
    id,
    title: 'A title',
    archived: false,
    created: TIME,
    bridgeId: null,
    messages: [],
    responses: [response],
    earlier: null,
    position: 0,
  };
}

it('shows the changes that were made to files, and no others', async () => {
  const { api, desk, session, said, shown } = await openWriter({ conversationId: CONVERSATION_ID });
  await expect.poll(() => session.view).toBeDefined();
  const edit = { type: 'file_edit', sequence: 1, content: '' };
  const metadata = { filePath: 'a.ts', operation: 'edit', language: 'ts' };
  const documents = [
    { ...edit, id: 'doc_001', metadata },
    { ...edit, id: 'doc_002', metadata: { ...metadata, result: { status: 'error' } } },
    { ...edit, id: 'doc_003', type: 'text', metadata: {} },
  ];
  const responses = [
    {
      id: RESPONSE_ID,
      conversationId: CONVERSATION_ID,
      model: 'demo',
      created: TIME,
      status: 'completed',
      metadata: {},
      documents,
    },
  ];
  const view = { ...session.view, responses };
  const path = `GET conversations/${CONVERSATION_ID}/export`;
  api.answers.set(path, { version: 1, conversation: view });
  await runCommand('/diff', desk());
  expect([said, shown]).toEqual([[], ['doc_001']]);
});

it('offers the models of a table that answer in chats', async () => {
  const { api, desk, session, asked, said } = await openWriter({ choice: 'large' });
  const model = { isDefault: false, takesImages: true };
  const items = [
    { ...model, id: 'large', roles: ['chat', 'fast'], contextWindow: 200_000 },
    { ...model, id: 'vectors', roles: ['embed'] },
  ];
  api.answers.set('GET models', { items, passesThrough: false });
  await runCommand('/model', desk());
  expect(asked[0]?.items).toEqual([
    { value: 'large', label: 'large', description: '200k tokens · images' },
  ]);
  expect(session.chat.model).toBe('large');
  await runCommand('/model vectors', desk());
  expect(said.at(-1)).toBe('There is no model vectors: /model lists them.');
});

it('says how a background agent begins where there is none', async () => {
  const { api, desk, said } = await openWriter();
  api.answers.set('GET agents?limit=100', { items: [], nextCursor: null });
  await runCommand('/agents', desk());
  expect(said).toEqual([expect.stringMatching(/no background agent: .* agents create PROMPT/)]);
});

it('shows what an agent has changed below its title', async () => {
  const { api, desk, said } = await openWriter({ choice: [CONVERSATION_ID, 'show'] });
  const agent = { ...AGENT, status: 'completed', result: 'Fixed.', responseId: RESPONSE_ID };
  api.answers.set('GET agents?limit=100', { items: [agent], nextCursor: null });
  api.answers.set(`GET agents/${CONVERSATION_ID}`, agent);
  await runCommand('/agents', desk());
  expect(said).toEqual(['Fix it: completed\n\nFixed.']);
});

it('copies the last answer as Markdown, with the code that it quotes and its plan', async () => {
  const { desk } = await openWriter();
  const place = { filePath: 'a.ts', startLine: 1, endLine: 2, language: 'typescript' };
  const documents = [
    ['text', 'It is here:', {}],
    ['code_reference', 'let a;', place],
    ['tool_call', null, { toolName: 'read_file' }],
    ['error', 'The model is away.', {}],
    ['plan', '# Plan', {}],
  ].map(([type, content, metadata], at) => ({ id: `doc_${at}`, type, content, metadata }));
  const session = { view: { responses: [{ documents }, { documents: [] }] } };
  const copied: string[] = [];
  await runCommand('/copy', {
    ...desk(),
    session: session as unknown as CommandDesk['session'],
    copy: (text) => void copied.push(text),
  });
  expect(copied).toEqual(['It is here:\n\n```1:2:a.ts\nlet a;\n```\n\n# Plan']);
});
