import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type McpServer, methods, type NewSessionRequest } from '@agentclientprotocol/sdk';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  chooseFirst,
  choosing,
  type EditorOptions,
  newSession,
  openEditor,
  prompt,
} from './acp-editor.ts';
import { deviceOf } from './allowing.ts';
import { oneHouse } from './one-house.ts';
import { LAY_PLAN } from './two-file-plan.ts';

/** Longer than a test. */
const ENDLESS = { text: 'Never to be ended. '.repeat(1_000), delayMs: 20 };

const at = oneHouse({
  rules: [
    { tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' },
    { tool: 'write', pattern: '*', decision: 'ask' },
  ],
});

const file = () => join(at.house.workspace, 'made.txt');
const touch = { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'touch made.txt' } }] };
const write = { calls: [{ name: 'write', arguments: { path: 'made.txt', contents: 'new\n' } }] };

beforeEach(() => rmSync(file(), { force: true }));

describe('a permission in an editor', () => {
  it('lasts for the conversation if the person says so', async () => {
    at.answerWith([touch, touch, { text: 'Twice.' }]);
    const editor = await openEditor(at.house, { decide: choosing('conversation') });
    const id = await newSession(editor, at.house);
    await prompt(editor, id, 'touch it twice');
    expect(editor.permissions).toHaveLength(1);
    expect(editor.permissions[0]?.toolCall.title).toBe('touch made.txt');
    expect(existsSync(file())).toBe(true);
  });

  it('is taken back when another device answers first', async () => {
    at.answerWith([touch, { text: 'Done elsewhere.' }]);
    let isTakenBack = false;
    const editor = await openEditor(at.house, {
      decide: async (_, signal) => {
        await once(signal, 'abort');
        isTakenBack = true;
        return { outcome: { outcome: 'cancelled' } };
      },
    });
    const id = await newSession(editor, at.house);
    const answered = prompt(editor, id, 'touch it');
    await vi.waitFor(() => expect(editor.permissions).toHaveLength(1));
    await allowWaiting(id);
    expect(await answered).toBe('end_turn');
    expect(isTakenBack).toBe(true);
    expect(editor.text(id)).toBe('Done elsewhere.');
  });

  it('counts once where the editor and another device answer at the same time', async () => {
    at.answerWith([touch, { text: 'Once.' }]);
    let answer = () => {};
    const editor = await openEditor(at.house, {
      decide: () =>
        new Promise((resolve) => {
          answer = () => resolve({ outcome: { outcome: 'selected', optionId: 'reject' } });
        }),
    });
    const id = await newSession(editor, at.house);
    const answered = prompt(editor, id, 'touch it');
    await vi.waitFor(() => expect(editor.permissions).toHaveLength(1));
    await Promise.all([allowWaiting(id).catch(() => {}), Promise.resolve().then(answer)]);
    expect(await answered).toBe('end_turn');
    const { responses } = await at.house.client.getConversation(id);
    const { decision } = Object(responses[0]?.documents[0]?.metadata['answered']);
    expect(existsSync(file())).toBe(decision === 'once');
  });
});

/** As a phone with an enrolled key does. */
async function allowWaiting(id: string): Promise<void> {
  const { items } = await at.house.client.listApprovals();
  const question = items.find(({ conversationId }) => conversationId === id);
  if (!question) throw new Error('nothing waits');
  await at.house.client.allowCall(question, deviceOf(at.house));
}

describe('cancel', () => {
  it('ends an answer, also twice, and the session goes on', async () => {
    at.answerWith((_, turn) => (turn === 0 ? ENDLESS : { text: 'Again.' }));
    const editor = await openEditor(at.house);
    const id = await newSession(editor, at.house);
    const answered = prompt(editor, id, 'go on for ever');
    await vi.waitFor(() => expect(editor.text(id)).toContain('Never'));
    await editor.agent.notify('session/cancel', { sessionId: id });
    await editor.agent.notify('session/cancel', { sessionId: id });
    expect(await answered).toBe('cancelled');
    expect(await prompt(editor, id, 'once more')).toBe('end_turn');
    expect(editor.text(id)).toContain('Again.');
  });

  it('gives up a permission that is never answered', async () => {
    at.answerWith([touch, { text: 'Not reached.' }]);
    const editor = await openEditor(at.house, { decide: () => new Promise(() => {}) });
    const id = await newSession(editor, at.house);
    const answered = prompt(editor, id, 'touch it');
    await vi.waitFor(() => expect(editor.permissions).toHaveLength(1));
    await editor.agent.notify('session/cancel', { sessionId: id });
    expect(await answered).toBe('cancelled');
    expect(existsSync(file())).toBe(false);
  });
});

describe('a session of before', () => {
  it('is listed with its folder, and replayed by another process', async () => {
    at.answerWith([{ text: 'I will touch it.', ...touch }, { text: 'Touched.' }]);
    const first = await openEditor(at.house);
    const id = await newSession(first, at.house);
    await prompt(first, id, 'touch it, please');
    expect(await first.leave()).toBe(0);

    const second = await openEditor(at.house);
    const { workspace: cwd } = at.house;
    const { sessions } = await second.agent.request('session/list', { cwd });
    expect(sessions.find(({ sessionId }) => sessionId === id)).toMatchObject({
      cwd,
      title: 'touch it, please',
    });
    const loaded = { sessionId: id, cwd, mcpServers: [] };
    await second.agent.request('session/load', loaded);
    expect(second.text(id, 'user_message_chunk')).toBe('touch it, please');
    expect(second.text(id)).toBe('I will touch it.Touched.');
    expect(second.of(id, 'tool_call')).toMatchObject([
      { title: 'touch made.txt', kind: 'execute', status: 'completed' },
    ]);
    at.answerWith([{ text: ' And more.' }]);
    expect(await prompt(second, id, 'more')).toBe('end_turn');
    expect(second.text(id)).toBe('I will touch it.Touched. And more.');
  });

  it('goes on without its history if the editor has that', async () => {
    at.answerWith([{ text: 'Old.' }, { text: 'New.' }]);
    const first = await openEditor(at.house);
    const id = await newSession(first, at.house);
    await prompt(first, id, 'one');
    const second = await openEditor(at.house);
    await second.agent.request('session/resume', { sessionId: id, cwd: at.house.workspace });
    await prompt(second, id, 'two');
    expect(second.text(id)).toBe('New.');
    // The first editor shows what the second one asks, as any other device.
    await vi.waitFor(() => expect(first.text(id)).toBe('Old.New.'));
    expect(first.text(id, 'user_message_chunk')).toBe('two');
  });

  it('asks again what a killed editor has left open', async () => {
    at.answerWith([touch, { text: 'Allowed at last.' }]);
    const first = await openEditor(at.house, { decide: () => new Promise(() => {}) });
    const id = await newSession(first, at.house);
    prompt(first, id, 'touch it').catch(() => {});
    await vi.waitFor(() => expect(first.permissions).toHaveLength(1));
    first.child.kill('SIGKILL');
    const second = await openEditor(at.house);
    const { workspace: cwd } = at.house;
    await second.agent.request('session/load', { sessionId: id, cwd, mcpServers: [] });
    await vi.waitFor(() => expect(second.text(id)).toBe('Allowed at last.'));
    expect(second.permissions).toHaveLength(1);
    expect(existsSync(file())).toBe(true);
  });

  it('is cancelled when it is closed, and gone when it is deleted', async () => {
    at.answerWith(() => ENDLESS);
    const editor = await openEditor(at.house);
    const id = await newSession(editor, at.house);
    const answered = prompt(editor, id, 'go on');
    await vi.waitFor(() => expect(editor.text(id)).toContain('Never'));
    await editor.agent.request('session/close', { sessionId: id });
    expect(await answered).toBe('cancelled');
    await vi.waitFor(async () => {
      const { responses } = await at.house.client.getConversation(id);
      expect(responses[0]?.status).toBe('cancelled');
    });
    await editor.agent.request('session/delete', { sessionId: id });
    await expect(at.house.client.getConversation(id)).rejects.toThrow();
    const wrong = editor.agent.request('session/delete', { sessionId: '../me' });
    await expect(wrong).rejects.toMatchObject({ code: -32602 });
  });

  it('is not found where there is none', async () => {
    const editor = await openEditor(at.house);
    const sessionId = 'conv_00000000-0000-4000-8000-000000000000';
    const request = { sessionId, cwd: at.house.workspace, mcpServers: [] };
    await expect(editor.agent.request('session/load', request)).rejects.toMatchObject({
      code: -32002,
    });
    await expect(prompt(editor, sessionId, 'hello')).rejects.toMatchObject({ code: -32002 });
  });
});

describe('questions of the agent', () => {
  const ask = {
    calls: [
      {
        name: 'ask_question',
        arguments: {
          questions: [
            {
              id: 'colour',
              prompt: 'Which colour?',
              options: [
                { id: 'r', label: 'Red' },
                { id: 'g', label: 'Green' },
              ],
            },
          ],
        },
      },
    ],
  };

  it('are options of a permission in an editor without forms', async () => {
    at.answerWith([ask, { text: 'Green it is.' }]);
    const editor = await openEditor(at.house, { decide: choosing('1') });
    const id = await newSession(editor, at.house);
    await prompt(editor, id, 'paint it');
    expect(editor.permissions[0]?.options.map(({ name }) => name)).toEqual([
      ...['Red', 'Green', 'Skip'],
    ]);
    expect(editor.text(id)).toContain('Which colour? → Green');
  });

  it('are a form where the editor has forms', async () => {
    at.answerWith([ask, { text: 'Both.' }]);
    const editor = await openEditor(at.house, {
      capabilities: { elicitation: { form: {} } },
      fillForm: () => ({
        action: 'accept',
        content: { 'question-1': 'r', 'question-1-words': 'with dots' },
      }),
    });
    const id = await newSession(editor, at.house);
    await prompt(editor, id, 'paint it');
    expect(editor.permissions).toEqual([]);
    expect(editor.text(id)).toContain('Which colour? → Red; with dots');
  });
});

it('takes back and repeats what the agent changed, by commands', async () => {
  at.answerWith([write, { text: 'Written.' }]);
  const editor = await openEditor(at.house, { decide: chooseFirst });
  const id = await newSession(editor, at.house);
  await prompt(editor, id, 'write it');
  expect(await prompt(editor, id, '/undo')).toBe('end_turn');
  expect(existsSync(file())).toBe(false);
  const titles = editor.permissions.map(({ toolCall }) => toolCall.title);
  expect(titles).toContain('Change these files?');
  await prompt(editor, id, '/redo');
  expect(readFileSync(file(), 'utf8')).toBe('new\n');
});

it('lays a plan, keeps its todos, and carries it out by a command', async () => {
  at.answerWith([
    { calls: [LAY_PLAN] },
    { text: ' That is all.' },
    { calls: [{ name: 'todo_write', arguments: { todos: [{ id: 'a', status: 'completed' }] } }] },
    { text: 'One is done.' },
  ]);
  const editor = await openEditor(at.house);
  const id = await newSession(editor, at.house);
  await editor.agent.request('session/set_config_option', {
    sessionId: id,
    configId: 'mode',
    value: 'plan',
  });
  await prompt(editor, id, 'plan it');
  expect(editor.text(id)).toMatch(/^Write `a.txt`, then `b.txt`\.\s+That is all\.$/);
  const statuses = () =>
    editor
      .of(id, 'plan')
      .at(-1)
      ?.entries.map(({ status }) => status);
  expect(statuses()).toEqual(['pending', 'pending']);
  expect(await prompt(editor, id, '/execute')).toBe('end_turn');
  expect(statuses()).toEqual(['pending', 'completed']);
  expect(editor.text(id)).toContain('One is done.');
});

it('asks for a subagent, and shows the call that the editor did not have', async () => {
  const task = { description: 'Touch', prompt: 'touch it', subagent_type: 'generalPurpose' };
  at.answerWith(({ messages }) => {
    const isBelow = !JSON.stringify(messages).includes('begin with it');
    const hasResult = messages.at(-1)?.role === 'tool';
    if (hasResult) return { text: isBelow ? 'Touched below.' : 'All done.' };
    return isBelow ? touch : { calls: [{ name: 'task', arguments: task }] };
  });
  const editor = await openEditor(at.house);
  const id = await newSession(editor, at.house);
  expect(await prompt(editor, id, 'begin with it')).toBe('end_turn');
  const [asked] = editor.permissions;
  const calls = editor.of(id, 'tool_call');
  expect(calls.map(({ toolCallId }) => toolCallId)).toContain(asked?.toolCall.toolCallId);
  expect(calls.map(({ title }) => title)).toContainEqual(
    expect.stringMatching(/^Subagent .*: touch made\.txt$/),
  );
  expect(existsSync(file())).toBe(true);
});

it('asks about each MCP server of the editor, shows all of it, and lists what gets a yes', async () => {
  at.answerWith([{ text: 'Hi.' }, { text: 'Again.' }]);
  const far: McpServer = {
    type: 'http',
    name: 'far',
    url: 'https://far.example/mcp',
    headers: [{ name: 'authorization', value: 'Bearer s3cret' }],
  };
  const decide: EditorOptions['decide'] = ({ toolCall: { title } }) => {
    const optionId = title?.includes('notes') ? 'yes' : 'no';
    return { outcome: { outcome: 'selected', optionId } };
  };
  const editor = await openEditor(at.house, { decide });
  const cwd = at.house.workspace;
  const command = ['-e', 'process.stdin.resume()'];
  const server = { name: 'notes', command: process.execPath, args: command, env: [] };
  const request: NewSessionRequest = { cwd, mcpServers: [server, far] };
  const { sessionId } = await editor.agent.request(methods.agent.session.new, request);
  expect(editor.permissions).toEqual([]);
  expect(await prompt(editor, sessionId, 'hello')).toBe('end_turn');
  expect(editor.permissions).toHaveLength(2);
  expect(JSON.stringify(editor.permissions[0]?.toolCall.content)).toContain(
    'process.stdin.resume()',
  );
  expect(editor.text(sessionId)).toMatch(/starts notes.*does not get far.*Hi\./s);
  const listed = JSON.parse(readFileSync(join(at.house.state, 'mcp.json'), 'utf8'));
  expect(Object.keys(listed.mcpServers)).toEqual(['notes']);
  const second: NewSessionRequest = { cwd, mcpServers: [server] };
  const next = await editor.agent.request(methods.agent.session.new, second);
  expect(await prompt(editor, next.sessionId, 'again')).toBe('end_turn');
  expect(editor.permissions).toHaveLength(2);
});

describe('a server elsewhere', () => {
  it('works in the folder that its bridge has, and in no other', async () => {
    at.answerWith([write, { text: 'Written from afar.' }]);
    const { ready, workspace: cwd } = at.house;
    const tokenFile = join(at.house.folder, 'token');
    writeFileSync(tokenFile, ready.token);
    const args = ['--url', ready.url, '--token-file', tokenFile];
    const editor = await openEditor(at.house, { args });
    const id = await newSession(editor, at.house);
    expect(await prompt(editor, id, 'write it')).toBe('end_turn');
    expect(readFileSync(file(), 'utf8')).toBe('new\n');
    const other = editor.agent.request('session/new', { cwd: tmpdir(), mcpServers: [] });
    await expect(other).rejects.toThrow(`works in ${tmpdir()}`);
    const { sessions } = await editor.agent.request('session/list', {});
    expect(sessions.map((each) => each.cwd)).toContain(cwd);
  });

  it('wants this machine to be signed in, and says how', async () => {
    const capabilities = { auth: { terminal: true } };
    const editor = await openEditor(at.house, {
      capabilities,
      args: ['--url', at.house.ready.url],
    });
    expect(editor.hello.authMethods).toMatchObject([{ type: 'terminal', args: ['--login'] }]);
    const authenticated = editor.agent.request('authenticate', { methodId: 'login' });
    await expect(authenticated).rejects.toMatchObject({ code: -32000 });
    const request = editor.agent.request('session/new', {
      cwd: at.house.workspace,
      mcpServers: [],
    });
    await expect(request).rejects.toMatchObject({ code: -32000 });
    await expect(request).rejects.toThrow(/is not signed in at .*: run `.* login /);
  });
});

it('the server of this machine needs no sign-in, and offers a way in that does nothing', async () => {
  const editor = await openEditor(at.house);
  const [method, ...others] = editor.hello.authMethods ?? [];
  expect([method, others]).toMatchObject([{ id: 'local', name: 'This machine' }, []]);
  // Without a type, a way in is the agent's own.
  expect(method).not.toHaveProperty('type');
  await editor.agent.request('authenticate', { methodId: 'local' });
  expect(await newSession(editor, at.house)).toEqual(expect.any(String));
});

it('ends with its stdin, and the answer goes on at the server', async () => {
  const long = Array.from({ length: 60 }, (_, line) => `Line ${line}.`).join('\n');
  at.answerWith(() => ({ text: long, delayMs: 10 }));
  const editor = await openEditor(at.house);
  const id = await newSession(editor, at.house);
  prompt(editor, id, 'say a lot').catch(() => {});
  await vi.waitFor(() => expect(editor.text(id)).toContain('Line 1'));
  expect(await editor.leave()).toBe(0);
  await vi.waitFor(async () => {
    const { responses } = await at.house.client.getConversation(id);
    expect(responses[0]).toMatchObject({ status: 'completed', documents: [{ content: long }] });
  });
});
