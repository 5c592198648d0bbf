/** The whole example of the response structure ("Implementiere JWT Authentication"), with real tools in a real folder. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { beforeEach, expect, it } from 'vitest';
import { ChatResponse, type Document, DocumentMetadata } from '../../shared/wire/documents.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/wire/fold.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { parseNamedEvent } from '../named-event.ts';
import { oneHouse } from './one-house.ts';

const MAIN = `import os
from flask import Flask

def main():
    app = Flask(__name__)
    app.register_blueprint(api_bp)
    return app
`;

const AUTH = `from functools import wraps
from flask import request, jsonify
import jwt
import os

SECRET_KEY = os.environ.get('JWT_SECRET', 'dev-secret')

def authMiddleware(f):
    return f
`;

const REGISTER = '    app.register_blueprint(api_bp)';
const REGISTER_BOTH = `${REGISTER}\n    app.register_blueprint(auth_bp)`;
const COMMAND = './pip install PyJWT';

const REQUEST = {
  model: 'claude-4.6-opus',
  mode: 'agent',
  context: {
    workspacePath: '/path/to/project',
    openFiles: ['src/main.py', 'src/utils.py'],
    projectLayout: 'src/\n  main.py\n  utils.py\nREADME.md',
    rules: ['camelCase fuer Variablen', 'Interne Funktionen mit _ Prefix'],
  },
  messages: [{ role: 'user', content: 'Implementiere JWT Authentication' }],
};

const at = oneHouse();

beforeEach(() => {
  putProject(at.house.workspace);
  at.answerWith(({ messages }) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    return TURNS[messages.slice(asked).filter(({ role }) => role === 'assistant').length] ?? LAST;
  });
});

it('comes as JSON with exactly the documents and fields of the specification', async () => {
  const answer: unknown = await (await post({ ...REQUEST, stream: false })).json();
  const response = ChatResponse.parse(answer);
  expect(answer).toEqual(response);
  expect(Object.keys(response)).toEqual([
    ...['id', 'conversationId', 'model', 'mode', 'created', 'status'],
    ...['documents', 'usage', 'metadata'],
  ]);
  expect(response).toMatchObject({
    model: 'claude-4.6-opus',
    mode: 'agent',
    status: 'completed',
    usage: { promptTokens: 33, completionTokens: 21, totalTokens: 54 },
    metadata: { toolCallCount: 5, turnCount: 3 },
  });
  expectDocuments(response.documents);
  expect(readFileSync(join(at.house.workspace, 'src/middleware/auth.py'), 'utf8')).toBe(AUTH);
  expect(readFileSync(join(at.house.workspace, 'src/main.py'), 'utf8')).toContain(REGISTER_BOTH);
  const system = String(at.requests()[0]?.messages[0]?.content);
  expect(system).toContain('camelCase fuer Variablen');
  expect(String(at.requests()[0]?.messages[1]?.content)).toContain('src/utils.py');
});

it('comes as named events that fold to the same documents', async () => {
  const frames = await framesOf(await post({ ...REQUEST, stream: true }));
  const events = frames.flatMap(({ event = '', data }) => parseNamedEvent(event, data) ?? []);
  expect(events).toHaveLength(frames.length);
  const start = events.find((event) => event.type === 'response_start');
  if (!start) throw new Error('there is no response_start');
  const response = newResponse(start.response);
  for (const event of events) foldEvent(response, event);
  expectDocuments(answerOf(response).documents);
  expect(await at.house.client.getResponse(response.id)).toEqual(answerOf(response));
  for (const { event, data } of frames) expect(JSON.parse(data)).not.toHaveProperty('type', event);
});

it('comes as unnamed data lines with the type inside', async () => {
  const body = { ...REQUEST, stream: true, stream_options: { framing: 'data' } };
  const frames = await framesOf(await post(body));
  expect(frames.at(-1)?.data).toBe('[DONE]');
  expect(frames.every(({ event }) => event === undefined)).toBe(true);
  const events = frames.slice(0, -1).map(({ data }) => JSON.parse(data));
  const started = events.filter(({ type }) => type === 'document_start');
  expect(started.map(({ document }) => document.type)).toEqual(TYPES);
  const results = events.filter(({ type }) => type === 'tool_result');
  expect(results.map(({ result }) => typeof result)).toEqual(results.map(() => 'string'));
  expect(events.at(-1)).toMatchObject({ type: 'done', usage: { promptTokens: 33 } });
});

const TYPES = [
  ...['text', 'tool_call', 'tool_call', 'code_reference', 'text'],
  ...['file_edit', 'file_edit', 'terminal_command', 'text', 'code_block'],
];

/** As in the specification; only the code inside the last text is a document of its own. */
function expectDocuments(documents: readonly Document[]): void {
  expect(documents.map(({ type }) => type)).toEqual(TYPES);
  expect(documents.map(({ id, sequence }) => ({ id, sequence }))).toEqual(
    TYPES.map((_, index) => ({
      id: `doc_${String(index + 1).padStart(3, '0')}`,
      sequence: index + 1,
    })),
  );
  for (const { type, metadata } of documents) {
    const schema = DocumentMetadata[type].strict();
    expect(metadata).toEqual(schema.parse(metadata));
  }
  const [, search, read, reference, , create, edit, command, , code] = documents;
  expect(search?.metadata).toMatchObject({
    toolName: 'codebase_search',
    toolCallId: expect.stringMatching(/^call_/),
    arguments: { query: 'Where is the Flask app initialized?', target_directories: ['src/'] },
    result: { status: 'success', data: expect.stringContaining('src/main.py') },
    duration_ms: expect.any(Number),
  });
  expect(read?.metadata).toMatchObject({
    toolName: 'read_file',
    arguments: { target_file: 'src/main.py' },
    result: { status: 'success', data: expect.stringContaining('from flask import Flask') },
  });
  expect(reference).toMatchObject({
    content: expect.stringContaining('app = Flask(__name__)'),
    metadata: { filePath: 'src/main.py', startLine: 4, endLine: 7, language: 'python' },
  });
  expect(create).toMatchObject({
    content: AUTH,
    metadata: { filePath: 'src/middleware/auth.py', operation: 'create', language: 'python' },
  });
  expect(edit).toMatchObject({
    content: REGISTER_BOTH,
    metadata: {
      filePath: 'src/main.py',
      operation: 'edit',
      language: 'python',
      diff: {
        oldString: expect.any(String),
        newString: expect.stringContaining('auth_bp'),
        startLine: expect.any(Number),
        endLine: expect.any(Number),
      },
    },
  });
  expect(command).toMatchObject({
    content: null,
    metadata: {
      command: COMMAND,
      exitCode: 0,
      output: expect.stringContaining('Successfully installed PyJWT-2.8.0'),
      permissions: ['network'],
    },
  });
  expect(code?.metadata).toEqual({ language: 'python', purpose: 'new_code' });
}

const TURNS: readonly ScriptedAnswer[] = [
  {
    text: 'Ich analysiere zuerst die bestehende Projektstruktur.',
    calls: [
      {
        name: 'codebase_search',
        arguments: { query: 'Where is the Flask app initialized?', target_directories: ['src/'] },
      },
      { name: 'read_file', arguments: { target_file: 'src/main.py' } },
    ],
  },
  {
    text: `\`\`\`4:7:src/main.py\n${MAIN.split('\n').slice(3, 7).join('\n')}\n\`\`\`\nIch erstelle jetzt die Auth-Middleware.`,
    calls: [
      { name: 'write', arguments: { path: 'src/middleware/auth.py', contents: AUTH } },
      {
        name: 'str_replace',
        arguments: { file_path: 'src/main.py', old_string: REGISTER, new_string: REGISTER_BOTH },
      },
      { name: 'run_terminal_cmd', arguments: { command: COMMAND, permissions: ['network'] } },
    ],
  },
];

const LAST: ScriptedAnswer = {
  text: "Die Middleware ist implementiert:\n\n```python\n@app.route('/api/protected')\n@authMiddleware\n```\n",
};

function post(body: object): Promise<Response> {
  return at.house.fetch('/api/v1/chat/completions', { method: 'POST', body: JSON.stringify(body) });
}

async function framesOf(response: Response): Promise<EventSourceMessage[]> {
  const frames: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => frames.push(frame) });
  parser.feed(await response.text());
  return frames;
}

function putProject(workspace: string): void {
  rmSync(join(workspace, 'src'), { recursive: true, force: true });
  mkdirSync(join(workspace, 'src'));
  writeFileSync(join(workspace, 'src', 'main.py'), MAIN);
  const pip = join(workspace, 'pip');
  writeFileSync(pip, '#!/bin/sh\necho "Successfully installed $2-2.8.0"\n');
  chmodSync(pip, 0o755);
}
