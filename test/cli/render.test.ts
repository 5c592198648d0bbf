import { describe, expect, it } from 'vitest';
import { coloured, type Paint, plain } from '../../cli/paint.ts';
import { NOTHING_SHOWN, renderEvent } from '../../cli/render.ts';
import type { ChatResponse, DocumentType, Metadata } from '../../shared/documents.ts';
import type { StreamEvent } from '../../shared/events.ts';
import { foldEvent, newResponse } from '../../shared/fold.ts';
import { CALL_ID, CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../client/sample-tape.ts';

const ESC = '\u001b';

function start(sequence: number, type: DocumentType, metadata?: Metadata): StreamEvent {
  const document = { id: `doc_00${sequence}`, type, sequence, ...(metadata && { metadata }) };
  return { type: 'document_start', document };
}
function delta(sequence: number, text: string): StreamEvent {
  return { type: 'content_delta', documentId: `doc_00${sequence}`, delta: text };
}
function output(sequence: number, text: string): StreamEvent {
  return { type: 'tool_output', documentId: `doc_00${sequence}`, delta: text };
}
function end(sequence: number, metadata?: Metadata): StreamEvent {
  return { type: 'document_end', documentId: `doc_00${sequence}`, ...(metadata && { metadata }) };
}
function call(sequence: number, toolName: string, args: Metadata): StreamEvent[] {
  const documentId = `doc_00${sequence}`;
  return [
    { type: 'tool_call_start', documentId, toolName, toolCallId: CALL_ID },
    { type: 'tool_call_arguments', documentId, arguments: args },
  ];
}
function result(sequence: number, status: 'success' | 'error', data: unknown): StreamEvent {
  return { type: 'tool_result', documentId: `doc_00${sequence}`, result: { status, data } };
}
function done(status: 'completed' | 'error' | 'cancelled', usage = true): StreamEvent {
  return {
    type: 'done',
    responseId: RESPONSE_ID,
    status,
    usage: usage ? { promptTokens: 10, completionTokens: 5, totalTokens: 15 } : null,
    metadata: { duration_ms: 1234, toolCallCount: 1, turnCount: 2 },
  };
}
function ask(sequence: number, args: Metadata): StreamEvent {
  return {
    type: 'approval_request',
    documentId: `doc_00${sequence}`,
    callId: CALL_ID,
    toolName: 'run_terminal_cmd',
    arguments: args,
    reason: 'It installs packages.',
  };
}
function resolved(sequence: number, message?: string): StreamEvent {
  return {
    type: 'approval_resolved',
    documentId: `doc_00${sequence}`,
    callId: CALL_ID,
    decision: message === undefined ? 'once' : 'reject',
    by: 'device',
    ...(message !== undefined && { message }),
  };
}

const DIFF = { oldString: 'a\nb\nc', newString: 'a\nB\nc', startLine: 10, endLine: 12 };

describe('on a terminal', () => {
  it.each<{ name: string; events: StreamEvent[]; text: string }>([
    {
      name: 'text streams as it is',
      events: [start(1, 'text'), delta(1, '\n# Hel'), delta(1, 'lo **you**'), end(1)],
      text: '# Hello **you**\n',
    },
    {
      name: 'code stands between fences, with room above',
      events: [
        ...[start(1, 'text'), delta(1, 'So:'), end(1)],
        ...[start(2, 'code_block', { language: 'ts' }), delta(2, 'let a;\n'), end(2)],
      ],
      text: 'So:\n\n```ts\nlet a;\n```\n',
    },
    {
      name: 'a code reference names its file and lines',
      events: [
        start(1, 'code_reference', { filePath: 'src/a.ts', startLine: 3, endLine: 4 }),
        delta(1, 'x\ny'),
        end(1),
      ],
      text: 'src/a.ts:3-4\n```\nx\ny\n```\n',
    },
    {
      name: 'a tool call is one line, completed by its result',
      events: [
        start(1, 'tool_call'),
        ...call(1, 'read_file', { target_file: 'src/main.ts', limit: 5 }),
        result(1, 'success', '1|a\n2|b'),
        end(1, { duration_ms: 3 }),
      ],
      text: '• read_file src/main.ts 5 ok 2 lines\n',
    },
    {
      name: 'calls that run in parallel name themselves again when they end',
      events: [
        ...[start(1, 'tool_call'), ...call(1, 'read_file', { target_file: 'a' })],
        ...[start(2, 'tool_call'), ...call(2, 'read_file', { target_file: 'b' })],
        ...[result(2, 'success', 'x'), result(1, 'success', 'y'), end(1), end(2)],
      ],
      text: '• read_file a\n• read_file b ok x\n• read_file a ok y\n',
    },
    {
      name: 'a failed call is followed by its error with the code',
      events: [
        ...[start(1, 'tool_call'), ...call(1, 'read_file', { target_file: 'a' })],
        ...[result(1, 'error', 'No such file.'), end(1)],
        ...[start(2, 'error', { errorCode: 'NOT_FOUND' }), delta(2, 'No such file.'), end(2)],
      ],
      text: '• read_file a failed\n\nerror NOT_FOUND: No such file.\n',
    },
    {
      name: 'an edit shows what it changes, at its lines of the file',
      events: [
        start(1, 'file_edit', { filePath: 'a.ts', operation: 'edit' }),
        delta(1, 'B'),
        end(1, { diff: DIFF }),
      ],
      text: '• edit a.ts\n  @ 10\n    a\n  - b\n  + B\n    c\n',
    },
    {
      name: 'a new file shows its lines',
      events: [
        start(1, 'file_edit'),
        ...call(1, 'write', { path: 'a.md', contents: 'x\ny\n' }),
        delta(1, 'x\ny\n'),
        end(1, { diff: null }),
      ],
      text: '• create a.md\n  + x\n  + y\n',
    },
    {
      name: 'a long new file is cut',
      events: [
        start(1, 'file_edit', { filePath: 'a.md', operation: 'create' }),
        delta(1, 'x\n'.repeat(50)),
        end(1, { diff: null }),
      ],
      text: `• create a.md\n${'  + x\n'.repeat(40)}  … 10 more lines\n`,
    },
    {
      name: 'a deletion is one line',
      events: [
        start(1, 'file_edit', { filePath: 'a.md', operation: 'delete' }),
        end(1, { diff: null }),
      ],
      text: '• delete a.md\n',
    },
    {
      name: 'a refused edit says so',
      events: [
        start(1, 'file_edit', { filePath: 'a.md', operation: 'edit' }),
        result(1, 'error', 'Stale.'),
        end(1),
      ],
      text: '• edit a.md failed\n',
    },
    {
      name: 'a command shows its output while it runs, moved in, then how it ended',
      events: [
        start(1, 'terminal_command'),
        ...call(1, 'run_terminal_cmd', { command: 'npm test' }),
        ...[output(1, 'one\ntw'), output(1, 'o\n'), output(1, '\nthree')],
        end(1, { command: 'npm test', exitCode: 1, duration_ms: 900, output: 'one\ntwo\n\nthree' }),
      ],
      text: '$ npm test\n  one\n  two\n\n  three\n  exit code 1 after 0.9 s\n',
    },
    {
      name: 'a command whose output was not seen live shows its end',
      events: [
        start(1, 'terminal_command', { command: 'seq 50' }),
        end(1, { exitCode: 0, duration_ms: 0, output: 'x\n'.repeat(50) }),
      ],
      text: `$ seq 50\n  … 10 more lines\n${'  x\n'.repeat(40)}  exit code 0 after 0.0 s\n`,
    },
    {
      name: 'commands that run in parallel name themselves again',
      events: [
        ...[start(1, 'terminal_command', { command: 'a' }), output(1, '1')],
        ...[start(2, 'terminal_command', { command: 'b' }), output(2, '2\n')],
        output(1, '3'),
        end(1, { exitCode: 0 }),
      ],
      text: '$ a\n  1\n\n$ b\n  2\n$ a\n  3\n  exit code 0\n',
    },
    {
      name: 'a command that writes after another has begun names itself again',
      events: [
        start(1, 'terminal_command', { command: 'a' }),
        start(2, 'terminal_command', { command: 'b' }),
        output(1, '1\n'),
      ],
      text: '$ a\n\n$ b\n$ a\n  1\n',
    },
    {
      name: 'an approval shows all that is asked for',
      events: [
        start(1, 'terminal_command', { command: 'npm i' }),
        ask(1, { command: 'npm i\nrm x', permissions: ['network'] }),
        resolved(1),
        end(1, { exitCode: 0 }),
      ],
      text:
        '$ npm i\n\n? run_terminal_cmd needs your approval: It installs packages.\n' +
        '  command: npm i\n    rm x\n  permissions: ["network"]\n' +
        'Allowed once on a device\n  exit code 0\n',
    },
    {
      name: 'a rejection shows its reason',
      events: [start(1, 'file_edit', { filePath: 'a' }), resolved(1, 'Not now')],
      text: '• edit a\nRejected on a device: Not now\n',
    },
    {
      name: 'the end shows what it took',
      events: [start(1, 'text'), delta(1, 'Hi'), end(1), done('completed')],
      text: 'Hi\n\n15 tokens (10 in, 5 out) · 2 turns · 1 tool call · 1.2 s\n',
    },
    {
      name: 'an upstream without usage shows the rest',
      events: [done('completed', false)],
      text: '2 turns · 1 tool call · 1.2 s\n',
    },
    {
      name: 'a cancelled run says so',
      events: [
        start(1, 'text'),
        delta(1, 'H'),
        end(1, { interrupted: true }),
        done('cancelled', false),
      ],
      text: 'H\n(interrupted)\n\nCancelled.\n2 turns · 1 tool call · 1.2 s\n',
    },
    {
      name: 'events of documents that never started show nothing',
      events: [delta(7, 'x'), end(7), { type: 'heartbeat' }],
      text: '',
    },
    {
      name: 'a newer type of content shows as text',
      events: [start(1, 'plan'), delta(1, '1. Think'), end(1)],
      text: '1. Think\n',
    },
  ])('$name', ({ events, text }) => {
    expect(render(events)).toBe(text);
  });

  it.each([
    { name: 'colour sequences are taken out', from: `${ESC}[31mred${ESC}[0m`, to: 'red' },
    { name: 'other sequences are shown, not obeyed', from: `${ESC}]52;c;x\u0007`, to: '␛]52;c;x␇' },
    { name: 'a line cannot be written over', from: 'rm -rf /\rls', to: 'rm -rf /\nls' },
    { name: 'writing cannot be turned around', from: 'a\u202eb', to: 'a\ufffdb' },
  ])('$name', ({ from, to }) => {
    expect(render([start(1, 'text'), delta(1, from), end(1)])).toBe(`${to}\n`);
    expect(render([start(1, 'file_edit'), ask(1, { command: from })])).toContain(to.split('\n')[0]);
  });

  it('edits are coloured where colours are', () => {
    const edit = [start(1, 'file_edit', { filePath: 'a' }), end(1, { diff: DIFF })];
    const text = render(edit, coloured);
    expect(text).toContain(`${ESC}[31m- b${ESC}[39m`);
    expect(text).toContain(`${ESC}[32m+ B${ESC}[39m`);
    expect(render(edit, plain)).not.toContain(ESC);
  });
});

describe('a snapshot', () => {
  const events = SAMPLE_TAPE.slice(2);

  it('adds what the screen lacks, wherever the stream was left', () => {
    const whole = render(events);
    for (let seen = 0; seen < events.length; seen++) {
      const before = events.slice(0, seen);
      expect(render([...before, snapshotOf(events)]), `after ${seen} events`).toBe(whole);
    }
  });

  it('of a run at work is gone on with', () => {
    const half = [...events.slice(0, 2), snapshotOf(events.slice(0, 3)), ...events.slice(3)];
    expect(render(half)).toBe(render(events));
  });

  it('shows a question that came up meanwhile, once', () => {
    const asked = [start(1, 'terminal_command', { command: 'x' }), ask(1, { command: 'x' })];
    const once = render(asked);
    expect(render([...asked.slice(0, 1), snapshotOf(asked)])).toBe(once);
    expect(render([...asked, snapshotOf(asked)])).toBe(once);
  });

  it('that takes something back is shown from its start', () => {
    const other = [start(1, 'text'), delta(1, 'Other'), end(1)];
    const text = render([start(1, 'text'), delta(1, 'Some'), snapshotOf(other)]);
    expect(text).toBe('Some\n\nPart of the answer was taken back. This is all of it:\n\nOther');
  });
});

function render(events: readonly StreamEvent[], paint: Paint = plain): string {
  let state = NOTHING_SHOWN;
  let all = '';
  for (const event of events) {
    const rendered = renderEvent(state, event, paint);
    state = rendered.state;
    all += rendered.text;
  }
  return all;
}

function snapshotOf(events: readonly StreamEvent[]): StreamEvent {
  const response: ChatResponse = newResponse({
    id: RESPONSE_ID,
    conversationId: CONVERSATION_ID,
    model: 'demo',
    mode: 'agent',
    created: '2026-11-20T12:00:00Z',
  });
  for (const event of events) foldEvent(response, event);
  return { type: 'snapshot', snapshot: { scope: 'response', response: structuredClone(response) } };
}
