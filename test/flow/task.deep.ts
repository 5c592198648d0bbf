import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DocumentMetadata } from '../../shared/wire/documents.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse();

it('reads, greps, edits two files and runs a command in the real folder', async () => {
  const { house } = at;
  putProject(house.workspace);
  at.answerWith(renameTask);

  const response = await house.client.chat({
    messages: [{ role: 'user', content: 'Rename greet to welcome and run the program' }],
  });

  expect(readFileSync(join(house.workspace, 'greet.mjs'), 'utf8')).toBe(
    'export function welcome(name) {\n  return `Hello, ${name}`;\n}\n',
  );
  expect(readFileSync(join(house.workspace, 'main.mjs'), 'utf8')).toBe(
    "import { welcome } from './greet.mjs';\n\nconsole.log(welcome('you'));\n",
  );
  expect(response.status).toBe('completed');
  expect(response.documents.map(({ type }) => type)).toEqual([
    'text',
    'tool_call',
    'tool_call',
    'file_edit',
    'file_edit',
    'terminal_command',
    'code_reference',
    'text',
  ]);
  for (const { type, metadata } of response.documents) {
    expect(metadata).toEqual(metadataOf(type).parse(metadata));
  }
  const [, read, grep, , edit, command] = response.documents;
  expect(read?.metadata).toMatchObject({
    toolName: 'read_file',
    arguments: { target_file: 'greet.mjs' },
    result: { status: 'success', data: expect.stringContaining('1|export function greet(name) {') },
  });
  expect(grep?.metadata['result']).toMatchObject({ data: expect.stringContaining('main.mjs') });
  expect(edit).toMatchObject({
    content: "import { welcome } from './greet.mjs';\n\nconsole.log(welcome('you'));",
    metadata: { filePath: 'main.mjs', operation: 'edit', language: 'javascript' },
  });
  expect(command?.metadata).toMatchObject({ command: 'node main.mjs', exitCode: 0 });
  expect(command?.metadata['output']).toContain('Hello, you');
  expect(response.usage).toEqual({ promptTokens: 44, completionTokens: 28, totalTokens: 72 });
  expect(response.metadata).toMatchObject({ toolCallCount: 5, turnCount: 4 });
});

it('gives the same documents as a stream, in the order they happened', async () => {
  const { house } = at;
  putProject(house.workspace);
  at.answerWith(renameTask);
  const types: string[] = [];
  let responseId = '';
  for await (const { event } of house.client.streamChat({
    messages: [{ role: 'user', content: 'Rename greet to welcome' }],
  })) {
    types.push(event.type);
    if (event.type === 'response_start') responseId = event.response.id;
  }
  expect(types.slice(0, 3)).toEqual(['message', 'response_start', 'document_start']);
  expect(types.at(-1)).toBe('done');
  const response = await house.client.getResponse(responseId);
  expect(response.documents.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it('holds a conversation over several messages', async () => {
  const { house } = at;
  at.answerWith((request) => ({
    text: `messages: ${request.messages.filter(({ role }) => role === 'user').length}`,
  }));
  const first = await house.client.chat({ messages: [{ role: 'user', content: 'one' }] });
  const second = await house.client.chat({
    conversationId: first.conversationId,
    messages: [{ role: 'user', content: 'two' }],
  });
  expect(second.documents[0]?.content).toBe('messages: 2');
  expect(at.requests()[1]?.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
  ]);
  const view = await house.client.getConversation(first.conversationId);
  expect(view.messages.map(({ content }) => content)).toEqual(['one', 'two']);
  expect(view.responses).toEqual([first, second]);
});

function metadataOf(type: string) {
  return DocumentMetadata[type as keyof typeof DocumentMetadata];
}

function putProject(workspace: string): void {
  writeFileSync(
    join(workspace, 'greet.mjs'),
    'export function greet(name) {\n  return `Hello, ${name}`;\n}\n',
  );
  writeFileSync(
    join(workspace, 'main.mjs'),
    "import { greet } from './greet.mjs';\n\nconsole.log(greet('you'));\n",
  );
}

/** A model that does the task in four turns, whatever it is asked. */
function renameTask(_: ScriptedRequest, turn: number): ScriptedAnswer {
  const turns: ScriptedAnswer[] = [
    {
      text: 'I look at the code first.',
      calls: [
        { name: 'read_file', arguments: { target_file: 'greet.mjs' } },
        { name: 'grep', arguments: { pattern: 'greet\\(' } },
      ],
    },
    {
      calls: [
        {
          name: 'str_replace',
          arguments: {
            file_path: 'greet.mjs',
            old_string: 'function greet',
            new_string: 'function welcome',
          },
        },
        {
          name: 'str_replace',
          arguments: {
            file_path: 'main.mjs',
            old_string: "import { greet } from './greet.mjs';\n\nconsole.log(greet('you'));",
            new_string: "import { welcome } from './greet.mjs';\n\nconsole.log(welcome('you'));",
          },
        },
      ],
    },
    { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'node main.mjs' } }] },
    { text: '```1:1:greet.mjs\nexport function welcome(name) {\n```\nRenamed, and it runs.' },
  ];
  return turns[turn] ?? { text: 'Nothing left to do.' };
}
