import { expect, it, vi } from 'vitest';
import { newSession, openEditor, prompt } from './acp-editor.ts';
import { workerdOf } from './house.ts';
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
