import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse();

const MARKED = 'print(1)  # DRAWBRIDGE-DEBUG\n';

const READ = { calls: [{ name: 'read_file', arguments: { target_file: 'a.py' } }] };
const MARK = edit('print(0)\n', MARKED);
const UNMARK = edit(MARKED, 'print(1)\n');

describe('a debug run', () => {
  it('searches what it has edited, and asks the model once to remove what is left', async () => {
    const { requests, response, file } = await debug([
      READ,
      MARK,
      { text: 'Found it.' },
      UNMARK,
      { text: 'Removed.' },
    ]);
    expect(response.status).toBe('completed');
    expect(response.documents.map(({ type }) => type)).toEqual([
      ...['tool_call', 'file_edit', 'text', 'tool_call', 'file_edit', 'text', 'tool_call'],
    ]);
    const sent = requests[3]?.messages.slice(-2);
    expect(sent).toEqual([
      { role: 'assistant', content: 'Found it.' },
      {
        role: 'user',
        content: expect.stringMatching(/DRAWBRIDGE-DEBUG still stands in .*: a\.py\./),
      },
    ]);
    expect(requests).toHaveLength(5);
    expect(response.metadata).toMatchObject({ turnCount: 5, toolCallCount: 3 });
    expect(file()).toBe('print(1)\n');
  });

  it('ends with a note for the person where the model leaves instrumentation', async () => {
    const { requests, response, file } = await debug([
      READ,
      MARK,
      { text: 'Found it.' },
      { text: 'I am done.' },
    ]);
    expect(response.status).toBe('completed');
    expect(response.documents.at(-1)).toMatchObject({
      type: 'error',
      content: 'Instrumentation is left in a.py: remove the lines with DRAWBRIDGE-DEBUG.',
      metadata: { errorCode: 'DEBUG_MARKS_LEFT' },
    });
    expect(requests).toHaveLength(4);
    expect(file()).toBe(MARKED);
  });

  it('finds what its commands have left, once for the model and then for the person', async () => {
    const command = { command: 'printf "log # DRAWBRIDGE-DEBUG\\n" > b.txt' };
    const { requests, response } = await debug([
      { calls: [{ name: 'run_terminal_cmd', arguments: command }] },
      { text: 'Found it.' },
      { text: 'I am done.' },
    ]);
    expect(requests[2]?.messages.at(-1)?.content).toMatch(
      /^\[DRAWBRIDGE-DEBUG stands in b\.txt\. Where your commands .* put it there, remove it/,
    );
    expect(response.documents.at(-1)).toMatchObject({
      content: 'DRAWBRIDGE-DEBUG stands in b.txt: a command may have put it there.',
      metadata: { errorCode: 'DEBUG_MARKS_LEFT' },
    });
    expect(response.status).toBe('completed');
  });

  it('that fails in the middle says where to look, before it says why it failed', async () => {
    const { response } = await debug([READ, MARK, { status: 401, body: '{}' }]);
    expect(response.status).toBe('error');
    expect(response.documents.slice(-2)).toMatchObject([
      {
        content: expect.stringMatching(/Look for DRAWBRIDGE-DEBUG in a\.py\.$/),
        metadata: { errorCode: 'DEBUG_MARKS_LEFT' },
      },
      { type: 'error' },
    ]);
  });

  it('that left nothing, or edited nothing, asks the model no more', async () => {
    const { requests, response } = await debug([
      READ,
      edit('print(0)\n', 'print(2)\n'),
      { text: 'So.' },
    ]);
    expect(response.documents.at(-1)).toMatchObject({ type: 'tool_call' });
    expect(requests).toHaveLength(3);
    const quiet = await debug([READ, { text: 'Nothing to do.' }]);
    expect(quiet.response.documents.at(-1)).toMatchObject({ type: 'text' });
  });
});

it('searches nothing in another mode', async () => {
  const { response } = await debug([READ, MARK, { text: 'So.' }], 'agent');
  expect(response.documents.at(-1)).toMatchObject({ type: 'text', content: 'So.' });
});

function edit(before: string, after: string): ScriptedReply {
  const args = { path: 'a.py', old_string: before, new_string: after };
  return { calls: [{ name: 'str_replace', arguments: args }] };
}

async function debug(replies: readonly ScriptedAnswer[], mode = 'debug') {
  const { house } = at;
  writeFileSync(join(house.workspace, 'a.py'), 'print(0)\n');
  at.answerWith(replies);
  const messages = [{ role: 'user' as const, content: 'find it' }];
  const response = await house.client.chat({ messages, mode });
  const text = readFileSync(join(house.workspace, 'a.py'), 'utf8');
  return { requests: at.requests(), response, file: () => text };
}
