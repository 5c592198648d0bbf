import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { newSession, openEditor, prompt } from './acp-editor.ts';
import { PROGRAM, workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line} of a long answer.`).join('\n');

/** Longer than a test. */
const ENDLESS = { text: 'Never to be ended. '.repeat(1_000), delayMs: 20 };

const at = oneHouse({
  rules: [{ tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' }],
});

it('loses nothing when the server is killed in the middle of an answer', async () => {
  at.answerWith(() => ({ text: LONG, delayMs: 10 }));
  const editor = await openEditor(at.house);
  const id = await newSession(editor, at.house);
  const answered = prompt(editor, id, 'say a lot');
  await vi.waitFor(() => expect(editor.text(id).length).toBeGreaterThan(300));
  process.kill(workerdOf(at.house), 'SIGKILL');
  expect(await answered).toBe('end_turn');
  const messages = new Map<string, string>();
  for (const { messageId, content } of editor.of(id, 'agent_message_chunk')) {
    const text = content.type === 'text' ? content.text : '';
    messages.set(messageId ?? '', (messages.get(messageId ?? '') ?? '') + text);
  }
  // What the crash has cut off stays shown. The whole answer follows as a message of its own.
  expect([...messages.values()].at(-1)).toBe(LONG);
});

it('sends a prompt and an answer to a permission once the server is back', async () => {
  at.answerWith([
    { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'touch made.txt' } }] },
    { text: 'Touched.' },
  ]);
  let answer = () => {};
  const editor = await openEditor(at.house, {
    capabilities: { session: { notices: {} } },
    decide: () =>
      new Promise((resolve) => {
        answer = () => resolve({ outcome: { outcome: 'selected', optionId: 'once' } });
      }),
  });
  const id = await newSession(editor, at.house);
  process.kill(workerdOf(at.house), 'SIGKILL');
  const answered = prompt(editor, id, 'touch it');
  await vi.waitFor(() => expect(editor.permissions).toHaveLength(1));
  process.kill(workerdOf(at.house), 'SIGKILL');
  answer();
  expect(await answered).toBe('end_turn');
  expect(editor.text(id)).toBe('Touched.');
  expect((await at.house.client.getConversation(id)).responses).toHaveLength(1);
});

it('cancels while the server is away', async () => {
  at.answerWith(() => ENDLESS);
  const editor = await openEditor(at.house);
  const id = await newSession(editor, at.house);
  const answered = prompt(editor, id, 'go on for ever');
  await vi.waitFor(() => expect(editor.text(id)).toContain('Never'));
  process.kill(workerdOf(at.house), 'SIGKILL');
  await editor.agent.notify('session/cancel', { sessionId: id });
  expect(await answered).toBe('cancelled');
  await vi.waitFor(async () => {
    const { responses } = await at.house.client.getConversation(id);
    expect(responses[0]?.status).toBe('cancelled');
  });
});

it('starts the server of this machine, and again after it was stopped', async () => {
  const home = temporaryFolder();
  const workspace = join(home, 'project');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  const env = {
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    DRAWBRIDGE_PORT: `${await freePort()}`,
    OPENAI_BASE_URL: '',
  };
  const stop = () => {
    const [program, ...words] = PROGRAM;
    const options = { cwd: home, env: { ...process.env, ...env }, stdio: 'ignore' } as const;
    execFileSync(program, [...words, 'stop'], options);
  };
  onTestFinished(stop);
  const editor = await openEditor(null, { env });
  const listed = await editor.agent.request('session/list', { cwd: workspace });
  expect(listed.sessions).toEqual([]);
  const id = await newSession(editor, { workspace });
  expect(await prompt(editor, id, 'list the files here')).toBe('end_turn');
  stop();
  expect(await prompt(editor, id, 'list the files here')).toBe('end_turn');
  expect(editor.of(id, 'tool_call').map(({ title }) => title)).toEqual([
    ...['list_dir .', 'list_dir .'],
  ]);
  // A folder below a known project means that project.
  const below = await newSession(editor, { workspace: join(workspace, 'src') });
  await prompt(editor, below, 'list the files here');
  const { sessions } = await editor.agent.request('session/list', { cwd: workspace });
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual([below, id]);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = Object(server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}
