import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EventStream } from '../../client/index.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { oneHouse } from './one-house.ts';

const FILES = {
  'a.txt': 'one\n',
  'b.txt': 'b\n',
  'ruled.txt': 'one\n',
  'task.sh': 'for file in a ruled; do echo two > $file.txt; done\n',
};

const at = oneHouse({
  rules: [
    { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
    { tool: 'edit', pattern: 'ruled.txt', decision: 'deny' },
  ],
  prepare: (workspace) => {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(workspace, name), text);
  },
});

it('a person previews, makes and takes back an undo, and the model learns of it', async () => {
  const { house } = at;
  const file = (name: string) => join(house.workspace, name);
  const text = (name: string) => readFileSync(file(name), 'utf8');
  at.answerWith([
    {
      calls: [
        { name: 'write', arguments: { path: 'new.txt', contents: 'new\n' } },
        { name: 'delete_file', arguments: { target_file: 'b.txt' } },
      ],
    },
    { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'sh task.sh' } }] },
    { text: 'Done.' },
    { text: 'I see.' },
  ]);
  const { conversationId } = await house.client.chat({ messages: [user('Go')] });
  const changed = { a: text('a.txt'), isThere: existsSync(file('b.txt')) };
  expect(changed).toEqual({ a: 'two\n', isThere: false });

  const preview = await read(house.client.undo(conversationId, { preview: true }));
  const undo = Object(preview.documents[0]?.metadata['undo']);
  expect(undo.files).toEqual([
    { path: 'a.txt', action: 'restore' },
    { path: 'b.txt', action: 'create' },
    { path: 'new.txt', action: 'delete' },
    { path: 'ruled.txt', action: 'keep', reason: expect.stringContaining('rules of this machine') },
  ]);
  expect(preview.documents.at(-1)?.content).toContain('-two\n+one');
  expect(text('a.txt')).toBe('two\n');

  writeFileSync(file('new.txt'), 'new\nperson\n');
  const { digest } = undo;
  const stale = await read(house.client.undo(conversationId, { digest }));
  expect(stale.documents.find(({ type }) => type === 'error')?.metadata['errorCode']).toBe(
    'UNDO_CHANGED',
  );
  expect(text('a.txt')).toBe('two\n');

  const undone = await read(house.client.undo(conversationId));
  expect(undone).toMatchObject({ status: 'completed' });
  const sentence = undone.documents.at(-1)?.content;
  expect(sentence).toContain(
    "At the user's request, Drawbridge took back changes in a.txt, b.txt. ",
  );
  expect(sentence).toContain('new.txt (it has changed since, in the same lines), ruled.txt (');
  expect(text('ruled.txt')).toBe('two\n');
  expect([text('a.txt'), text('b.txt'), text('new.txt')]).toEqual([
    'one\n',
    'b\n',
    'new\nperson\n',
  ]);

  await read(house.client.undo(conversationId, { scope: 'redo' }));
  expect([text('a.txt'), existsSync(file('b.txt'))]).toEqual(['two\n', false]);

  await house.client.chat({ messages: [user('So?')], conversationId });
  const said =
    at
      .requests()
      .at(-1)
      ?.messages.map(({ content }) => String(content)) ?? [];
  expect(said.filter((words) => words.includes('request, Drawbridge'))).toHaveLength(2);
  expect(said.some((words) => words.includes('Preview:'))).toBe(false);
});

it('one call is taken back by the id that its document has', async () => {
  const { house } = at;
  const write = (path: string) => ({ name: 'write', arguments: { path, contents: 'x\n' } });
  at.answerWith([{ calls: [write('first.txt'), write('second.txt')] }, { text: 'Done.' }]);
  const { conversationId } = await house.client.chat({ messages: [user('Go')] });
  const { responses } = await house.client.getConversation(conversationId);
  const id = String(responses[0]?.documents[0]?.metadata['toolCallId']);
  await read(house.client.undo(conversationId, { scope: 'call', id }));
  const isThere = (name: string) => existsSync(join(house.workspace, name));
  expect([isThere('first.txt'), isThere('second.txt')]).toEqual([false, true]);
});

it('an undo leaves a file alone that is closed to tools now', async () => {
  const { house } = at;
  const file = join(house.workspace, 'closed.txt');
  writeFileSync(file, 'one\n');
  at.answerWith([
    { calls: [{ name: 'read_file', arguments: { target_file: 'closed.txt' } }] },
    { calls: [{ name: 'write', arguments: { path: 'closed.txt', contents: 'two\n' } }] },
    { text: 'Done.' },
  ]);
  const { conversationId } = await house.client.chat({ messages: [user('Go')] });
  expect(readFileSync(file, 'utf8')).toBe('two\n');
  writeFileSync(join(house.workspace, '.cursorignore'), 'closed.txt\n');
  const undone = await read(house.client.undo(conversationId));
  expect(undone.documents.at(-1)?.content).toContain('No file was changed.');
  expect(readFileSync(file, 'utf8')).toBe('two\n');
  rmSync(join(house.workspace, '.cursorignore'));
});

it('a fork restores the files of its point, once, and its model learns of it', async () => {
  const { house } = at;
  const text = (name: string) => readFileSync(join(house.workspace, name), 'utf8');
  const write = (path: string, contents: string) => ({
    calls: [{ name: 'write', arguments: { path, contents } }],
  });
  at.answerWith([
    write('early.txt', 'early\n'),
    { text: 'One.' },
    write('late.txt', 'late\n'),
    { text: 'Two.' },
    { text: 'I see.' },
  ]);
  const { id, conversationId } = await house.client.chat({ messages: [user('First')] });
  const second = await house.client.chat({ messages: [user('Second')], conversationId });
  const since = { scope: 'since', id: second.id } as const;
  const preview = await read(house.client.undo(conversationId, { ...since, preview: true }));
  const { digest } = Object(preview.documents[0]?.metadata['undo']);

  const stale = { files: 'restore', digest: 'other' } as const;
  const refused = await house.client.forkConversation(conversationId, id, stale);
  const unchanged = await read(house.client.followResponse(refused.responseId ?? ''));
  expect([unchanged.status, text('late.txt')]).toEqual(['error', 'late\n']);

  const keyed = { files: 'restore', digest, idempotencyKey: 'fork-1' } as const;
  const fork = await house.client.forkConversation(conversationId, id, keyed);
  const restored = await read(house.client.followResponse(fork.responseId ?? ''));
  expect(restored).toMatchObject({ status: 'completed', conversationId: fork.conversationId });
  expect(existsSync(join(house.workspace, 'late.txt'))).toBe(false);
  expect(text('early.txt')).toBe('early\n');
  expect(await house.client.forkConversation(conversationId, id, keyed)).toEqual(fork);

  await house.client.chat({ messages: [user('So?')], conversationId: fork.conversationId });
  const said = JSON.stringify(at.requests().at(-1)?.messages);
  expect(said).toContain('Restore the files as they were at this point');
  expect(said).toContain("At the user's request, Drawbridge took back changes in late.txt.");

  const again = await house.client.forkConversation(conversationId, id, { files: 'restore' });
  const nothing = await read(house.client.followResponse(again.responseId ?? ''));
  expect(nothing).toMatchObject({ status: 'completed' });
});

function user(content: string) {
  return { role: 'user' as const, content };
}

async function read(stream: EventStream): Promise<ChatResponse> {
  let response: ChatResponse | undefined;
  for await (const { event } of stream) {
    if (event.type === 'response_start') response = newResponse(event.response);
    if (response) foldEvent(response, event);
  }
  if (!response) throw new Error('no response');
  return response;
}
