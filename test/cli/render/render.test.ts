import { describe, expect, it } from 'vitest';
import { nothingShown, renderEvent } from '../../../cli/render/render.ts';
import type { ResponseView } from '../../../cli/render/text.ts';
import { ownCommand } from '../../../cli/terminal/own-command.ts';
import { coloured, type Paint, plain } from '../../../cli/terminal/paint.ts';
import { inPlainSight } from '../../../shared/text/plain-sight.ts';
import type { ChatResponse, DocumentType, Metadata } from '../../../shared/wire/documents.ts';
import type { StreamEvent } from '../../../shared/wire/events.ts';
import { foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import {
  BRIDGE_ID,
  CALL_ID,
  CONVERSATION_ID,
  RESPONSE_ID,
  SAMPLE_TAPE,
} from '../../client/sample-tape.ts';

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
function summary(status: 'running' | 'completed' | 'failed'): StreamEvent {
  return { type: 'context_summary', responseId: RESPONSE_ID, status };
}
function ask(sequence: number, args: Metadata): StreamEvent {
  return {
    type: 'approval_request',
    documentId: `doc_00${sequence}`,
    callId: CALL_ID,
    bridgeId: BRIDGE_ID,
    nonce: 'n-1',
    proposal: { kind: 'call', tool: 'run_terminal_cmd', arguments: args },
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

const LEFT = [
  { name: 'new/.git', quarantined: true, what: ['hooks/pre-commit', `a${ESC}[2Jb`] },
  { name: '.envrc', quarantined: false, what: ['a shell reads it'] },
  { name: 'b/.git', quarantined: false, what: [] },
  { name: 'c/.git', quarantined: false, what: [], failure: 'it could not be moved' },
];
function leftBehind(sequence: number): StreamEvent[] {
  const ran = { exitCode: 0, output: '', duration_ms: 5, newlyProtected: LEFT };
  const documentId = `doc_00${sequence}`;
  return [end(sequence, ran), { type: 'attention', documentId, items: LEFT }];
}
function todo(id: string, status: string, content?: string) {
  return { id, status, ...(content !== undefined && { content }) };
}
function questions(sequence: number): StreamEvent {
  return {
    type: 'clarification_request',
    documentId: `doc_00${sequence}`,
    questions: QUESTIONS,
  };
}
function answered(sequence: number): StreamEvent {
  const answers = [{ questionId: 'way', optionIds: ['jwt'], text: 'with care' }];
  return end(sequence, { questions: QUESTIONS, answers });
}

const PLAN = {
  title: 'Login',
  overview: 'Two steps.',
  format: 'markdown',
  todos: [
    { id: 'a', content: 'Add a form', status: 'pending', dependencies: [] },
    { id: 'b', content: 'Wire it', status: 'in_progress', dependencies: ['a', 'c'] },
  ],
};
const QUESTIONS = [
  {
    id: 'way',
    text: 'Which way?',
    options: [
      { id: 'jwt', label: 'JWT' },
      { id: 'session', label: 'Sessions' },
    ],
  },
  {
    id: 'routes',
    text: 'Which routes?',
    allowMultiple: true,
    options: [
      { id: 'all', label: 'All' },
      { id: 'some', label: 'Some' },
    ],
  },
];
const DIFF = { oldString: 'a\nb\nc', newString: 'a\nB\nc', startLine: 10, endLine: 12 };

describe('on a terminal', () => {
  it.each<{ name: string; events: StreamEvent[]; text: string }>([
    {
      name: 'images of a result are named below it',
      events: [
        start(1, 'tool_call'),
        ...call(1, 'mcp_demo_shot', { page: 'a' }),
        result(1, 'success', 'done'),
        end(1, { duration_ms: 5, images: [{ mimeType: 'image/png', data: 'A'.repeat(4_000) }] }),
      ],
      text: '• mcp_demo_shot a ok done\n  image: image/png, 3 KB\n',
    },
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
      name: 'a line that is rewritten with carriage returns shows its last state alone',
      events: [
        start(1, 'terminal_command', { command: 'x' }),
        ...['get', ' 10%', '\r 50%\u001b[K', '\r', '100%\r', '\nb\r\n', '1\r2'].map((text) =>
          output(1, text),
        ),
        end(1, { exitCode: 0, duration_ms: 3 }),
      ],
      text: '$ x\n  100%\n  b\n  2\n  exit code 0 after 0.0 s\n',
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
      name: 'what a command left behind stands below it, whatever the model says',
      events: [start(1, 'terminal_command', { command: 'x' }), ...leftBehind(1)],
      text:
        '$ x\n  exit code 0 after 0.0 s\n' +
        `  ! new/.git is new; what could start programs there was quarantined (\`${ownCommand('quarantine')}\` shows it): hooks/pre-commit, a␛[2Jb.\n` +
        '  ! .envrc is new or was changed, look at it before you use it: a shell reads it.\n' +
        '  ! b/.git is new; nothing in it starts programs.\n' +
        '  ! c/.git is new and could NOT be quarantined, remove it before you use it: it could not be moved.\n',
    },
    {
      name: 'a failed call is followed by its error with the code',
      events: [
        ...[start(1, 'tool_call'), ...call(1, 'read_file', { target_file: 'a' })],
        ...[result(1, 'error', 'No such file.'), end(1)],
        start(2, 'error', { errorCode: 'NOT_FOUND', details: 'a is gone.\nLook.' }),
        ...[delta(2, 'No such file.'), end(2)],
      ],
      text: '• read_file a failed\n\nerror NOT_FOUND: No such file.\n  a is gone.\n  Look.\n',
    },
    {
      name: 'an error names a command as it can be typed here, and an answer is left as it is',
      events: [
        ...[start(1, 'text'), delta(1, 'Type `drawbridge check`.'), end(1)],
        start(2, 'error', { errorCode: 'A', details: 'Run `drawbridge check`.' }),
        ...[delta(2, 'No `drawbridge config model`.'), end(2)],
      ],
      text: `Type \`drawbridge check\`.\n\nerror A: No \`${ownCommand('config', 'model')}\`.\n  Run \`${ownCommand('check')}\`.\n`,
    },
    {
      name: 'a command that runs on says so in the place of an exit code',
      events: [
        start(1, 'terminal_command', { command: 'serve' }),
        end(1, { output: 'up', process_id: 'proc_1', duration_ms: 100, permissions: [] }),
      ],
      text: '$ serve\n  up\n  runs on in the background as proc_1\n',
    },
    {
      name: 'a rename shows both names in one line',
      events: [
        start(1, 'file_edit', { filePath: 'a.ts', operation: 'rename' }),
        ...call(1, 'rename_file', { target_file: 'a.ts', new_path: 'lib/b.ts' }),
        end(1, { newPath: 'lib/b.ts', diff: null }),
      ],
      text: '• rename a.ts → lib/b.ts\n',
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
      name: 'an edit of a file with CR LF takes a line for each line, and none may begin another',
      events: [
        start(1, 'file_edit', { filePath: 'a.ts', operation: 'edit' }),
        end(1, { diff: { ...DIFF, oldString: 'a\r\nb\r\n', newString: 'a\r\nB\rC\r\n' } }),
      ],
      text: '• edit a.ts\n  @ 10\n    a\n  - b\n  + B␍C\n',
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
      name: 'a last line without an end is written once, whatever follows',
      events: [
        ...[start(1, 'terminal_command', { command: 'x' }), output(1, 'a\nb')],
        ...[end(1, { exitCode: 0, duration_ms: 0, output: 'a\nb' }), start(2, 'text')],
        ...[delta(2, 'Done.'), end(2)],
      ],
      text: '$ x\n  a\n  b\n  exit code 0 after 0.0 s\n\nDone.\n',
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
      name: 'a command that writes after another begins names itself again',
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
      name: 'an approval shows every character, and no text that looks like another',
      events: [
        start(1, 'terminal_command', { command: 'x' }),
        ask(1, {
          command: 'a\u001b[31mb\r\n  permissions: []\tc\u202e\u00a0d \\u{1b} C:\\up',
          'x: y\n  z': 1,
        }),
      ],
      text:
        '$ x\n\n? run_terminal_cmd needs your approval: It installs packages.\n' +
        '  command: a\\u{1b}[31mb\\u{d}\n      permissions: []\\u{9}c\\u{202e}\\u{a0}d \\\\u{1b} C:\\up\n' +
        '  "x: y\\n  z": 1\n',
    },
    {
      name: 'a question that is void says so before the next one',
      events: [
        start(1, 'terminal_command', { command: 'x' }),
        ask(1, { command: 'x' }),
        { ...resolved(1), decision: 'superseded', by: 'drawbridge' } as StreamEvent,
        ask(1, { command: 'y' }),
      ],
      text:
        '$ x\n\n? run_terminal_cmd needs your approval: It installs packages.\n  command: x\n' +
        'Another question replaces this one\n\n' +
        '? run_terminal_cmd needs your approval: It installs packages.\n  command: y\n',
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
      name: 'another model that takes over is named',
      events: [
        { type: 'response_model', model: 'spare\u001b[2J\n' },
        start(1, 'text'),
        delta(1, 'Hi'),
      ],
      text: 'spare␛[2J answers from here on.\n\nHi',
    },
    {
      name: 'a summary that the answer waits for is shown once',
      events: [
        start(1, 'text'),
        delta(1, 'Hi'),
        ...(['running', 'completed'] as const).map(summary),
        ...(['running', 'failed'] as const).map(summary),
      ],
      text: 'Hi\nThe model is summarising the older part of the conversation.\nThe model is summarising the older part of the conversation.\n',
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
      name: 'a plan streams, then shows its title and its todos with what they wait for',
      events: [
        ...[start(1, 'plan'), delta(1, '\n# Do'), delta(1, ' it\n')],
        ...[...call(1, 'create_plan', {}), end(1, PLAN)],
      ],
      text:
        '# Do it\n\nPlan: Login\nTwo steps.\n\n' +
        '- [ ] a: Add a form\n- [~] b: Wire it (after a, c)\n',
    },
    {
      name: 'a plan that came to nothing ends as text',
      events: [start(1, 'plan'), delta(1, '# Do'), result(1, 'error', 'Twice.'), end(1)],
      text: '# Do\n',
    },
    {
      name: 'changed todos are a checklist, in the words of the documents before',
      events: [
        ...[start(1, 'plan'), end(1, { ...PLAN, overview: '' }), start(2, 'todo_update')],
        ...call(2, 'todo_write', {}),
        end(2, {
          todos: [
            ...[
              todo('a', 'completed'),
              todo('b', 'in_progress'),
              todo('d', 'pending', 'New\nline'),
            ],
            ...[todo('e', 'cancelled')],
          ],
        }),
      ],
      text:
        'Plan: Login\n\n- [ ] a: Add a form\n- [~] b: Wire it (after a, c)\n\n' +
        '[x] Add a form\n[~] Wire it\n[ ] New line\n[-] e\n',
    },
    {
      name: 'a clarification numbers its options, then shows what was answered',
      events: [start(1, 'clarification'), delta(1, 'First:'), questions(1), answered(1)],
      text:
        'First:\n\n? Which way?\n  1  JWT\n  2  Sessions\n\n' +
        '? Which routes? (several may be chosen)\n  1  All\n  2  Some\n→ JWT; with care\n→ skipped\n',
    },
    {
      name: 'a clarification that was answered before anybody saw it shows both',
      events: [start(1, 'clarification'), answered(1)],
      text:
        '? Which way?\n  1  JWT\n  2  Sessions\n\n' +
        '? Which routes? (several may be chosen)\n  1  All\n  2  Some\n→ JWT; with care\n→ skipped\n',
    },
    {
      name: 'what the model thinks stands moved in',
      events: [
        ...[start(1, 'reasoning'), delta(1, '\nHm'), delta(1, 'm.\nOr'), end(1)],
        ...[start(2, 'text'), delta(2, 'Yes.'), end(2)],
      ],
      text: 'Thinking:\n  Hmm.\n  Or\n\nYes.\n',
    },
    {
      name: 'a conversation that is renamed shows nothing',
      events: [{ type: 'conversation_update', title: 'New', archived: false }],
      text: '',
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
    const asked = render([start(1, 'file_edit'), ask(1, { command: from })]);
    expect(asked).toContain(`  command: ${inPlainSight(from)}\n`);
  });

  it('edits are coloured where colours are', () => {
    const edit = [start(1, 'file_edit', { filePath: 'a' }), end(1, { diff: DIFF })];
    const text = render(edit, coloured);
    expect(text).toContain(`${ESC}[31m- b${ESC}[39m`);
    expect(text).toContain(`${ESC}[32m+ B${ESC}[39m`);
    expect(render(edit, plain)).not.toContain(ESC);
  });
});

describe('what a model does not end', () => {
  // With a pass over all of it for each piece, or for each line end, these would take minutes.
  it.each(['text', 'reasoning', 'code_block'] as const)('costs its length as %s', (type) => {
    const piece = delta(1, 'word ');
    const events = [start(1, type), ...Array.from({ length: 100_000 }, () => piece)];
    expect(render(events).length).toBeGreaterThanOrEqual(500_000);
  });

  it('costs its length where it is line ends', () => {
    expect(render([start(1, 'text'), delta(1, `a${'\n'.repeat(400_000)}b`)]).endsWith('\nb')).toBe(
      true,
    );
  });
});

describe('beside a pipe', () => {
  const mixed: StreamEvent[] = [
    ...[start(1, 'reasoning'), delta(1, 'Hm.'), end(1)],
    ...[start(2, 'text'), delta(2, 'So:')],
    ...[start(3, 'tool_call'), ...call(3, 'read_file', { target_file: 'a' })],
    ...[result(3, 'success', 'x'), end(3), delta(2, ' this'), end(2)],
    ...[start(4, 'code_block', { language: 'ts' }), delta(4, 'let a;'), end(4)],
    ...[start(5, 'clarification'), questions(5), answered(5)],
    ...[start(6, 'plan'), delta(6, '# Do'), end(6, { ...PLAN, todos: [] })],
    ...[start(7, 'text'), delta(7, 'Half'), end(7, { interrupted: true }), done('cancelled')],
  ];

  it('the answer is alone, and Markdown', () => {
    expect(render(mixed, plain, 'answer')).toBe(
      'So: this\n\n```ts\nlet a;\n```\n\n# Do\n\nPlan: Login\nTwo steps.\n\nHalf\n',
    );
  });

  it('everything else has its place, and says what of the answer was cut off', () => {
    expect(render(mixed, plain, 'progress')).toBe(
      'Thinking:\n  Hm.\n\n• read_file a ok x\n\n' +
        '? Which way?\n  1  JWT\n  2  Sessions\n\n' +
        '? Which routes? (several may be chosen)\n  1  All\n  2  Some\n→ JWT; with care\n→ skipped\n' +
        '(interrupted)\n\nCancelled.\n15 tokens (10 in, 5 out) · 2 turns · 1 tool call · 1.2 s\n',
    );
  });

  it('which model answers and what it waits for belong to the rest', () => {
    const news = [{ type: 'response_model', model: 'spare' } as const, summary('running')];
    expect(render(news, plain, 'answer')).toBe('');
    expect(render(news, coloured, 'progress')).toBe(
      `${ESC}[2mspare answers from here on.${ESC}[22m\n${ESC}[2mThe model is summarising the older part of the conversation.${ESC}[22m\n`,
    );
  });

  it('mentions that lead to nothing belong to the rest', () => {
    const attachments = [
      { type: 'file' as const, name: 'a.ts' },
      { type: 'none' as const, name: `b${ESC}.ts`, reason: 'b.ts does not exist.' },
    ];
    const response = {
      id: RESPONSE_ID,
      conversationId: CONVERSATION_ID,
      model: 'demo',
      mode: 'agent' as const,
      created: '2026-11-20T12:00:00Z',
      metadata: { attachments },
    };
    const news = [{ type: 'response_start', response } as const];
    expect(render(news, plain, 'answer')).toBe('');
    const shown = render(news, plain, 'progress');
    expect(shown).toMatch(/^@b.*\.ts is not attached: b\.ts does not exist\.\n$/);
    expect(shown).not.toContain(ESC);
  });

  it('an answer that begins again does so below, and the person reads so', () => {
    const other = [start(1, 'text'), delta(1, 'Other'), end(1)];
    const again = [start(1, 'text'), delta(1, 'Some'), snapshotOf(other), end(1)];
    expect(render(again, plain, 'answer')).toBe('Some\n\nOther\n');
    expect(render(again, plain, 'progress')).toBe(
      'Part of the answer was withdrawn. This is the whole answer:\n\n',
    );
  });
});

describe('a snapshot', () => {
  const EVENTS: StreamEvent[] = [
    ...SAMPLE_TAPE.slice(2, -1),
    ...[start(3, 'reasoning'), delta(3, 'Hm.'), end(3)],
    ...[start(4, 'clarification'), delta(4, 'So'), questions(4), answered(4)],
    ...[start(5, 'plan'), delta(5, '# Do'), end(5, PLAN)],
    ...[start(6, 'todo_update'), end(6, { todos: [todo('of no plan', 'completed')] })],
    ...[start(7, 'terminal_command', { command: 'x' }), ...leftBehind(7)],
    ...SAMPLE_TAPE.slice(-1),
  ];

  it.each(['all', 'answer', 'progress'] as const)(
    'adds what the screen of %s lacks, wherever the stream was left',
    (view) => {
      const whole = render(EVENTS, plain, view);
      for (let seen = 0; seen < EVENTS.length; seen++) {
        const before = EVENTS.slice(0, seen);
        const text = render([...before, snapshotOf(EVENTS)], plain, view);
        expect(text, `after ${seen} events`).toBe(whole);
      }
    },
  );

  it('of a running answer goes on wherever it was taken', () => {
    const whole = render(EVENTS);
    for (let at = 1; at < EVENTS.length; at++) {
      const before = EVENTS.slice(0, at);
      const text = render([...before.slice(0, -1), snapshotOf(before), ...EVENTS.slice(at)]);
      expect(text, `after ${at} events`).toBe(whole);
    }
  });

  it.each([
    [start(1, 'terminal_command', { command: 'x' }), ask(1, { command: 'x' })],
    [start(1, 'clarification'), questions(1)],
  ])('shows a question that came up meanwhile, once', (before, question) => {
    const once = render([before, question]);
    expect(render([before, snapshotOf([before, question])])).toBe(once);
    expect(render([before, question, snapshotOf([before, question])])).toBe(once);
  });

  it('that takes something back is shown from its start', () => {
    const other = [start(1, 'text'), delta(1, 'Other'), end(1)];
    const text = render([start(1, 'text'), delta(1, 'Some'), snapshotOf(other)]);
    expect(text).toBe(
      'Some\n\nPart of the answer was withdrawn. This is the whole answer:\n\nOther',
    );
  });
});

it.each([
  [0.0042, 'USD', '0.0042 USD'],
  [0.000012345, 'USD', '0.000012 USD'],
  [0.5, 'EUR', '0.50 EUR'],
  [12.345, 'EUR', '12.35 EUR'],
  [0, 'USD', '0.00 USD'],
  [1e-300, 'USD', '0.0000000000 USD'],
  [1, '\u001b]0;x', '1.00 ␛]0;x'],
])('a cost of %d %j is shown as %s', (amount, currency, text) => {
  const event = done('completed');
  if (event.type !== 'done' || !event.usage) throw new Error('not the end of a run');
  const usage = { ...event.usage, cost: { amount, currency } };
  expect(render([{ ...event, usage }])).toBe(
    `15 tokens (10 in, 5 out) · ${text} · 2 turns · 1 tool call · 1.2 s\n`,
  );
});

it.each([
  [1, '1 request'],
  [2, '2 requests'],
])('tokens and cost without %d requests are no whole sum', (unreportedRequests, requests) => {
  const event = done('completed');
  if (event.type !== 'done' || !event.usage) throw new Error('not the end of a run');
  const cost = { amount: 0.5, currency: 'EUR' };
  const usage = { ...event.usage, cost, unreportedRequests };
  expect(render([{ ...event, usage }])).toBe(
    `at least 15 tokens (10 in, 5 out; the model server reports none for ${requests}) · ` +
      'at least 0.50 EUR · 2 turns · 1 tool call · 1.2 s\n',
  );
});

function render(
  events: readonly StreamEvent[],
  paint: Paint = plain,
  view: ResponseView = 'all',
): string {
  let state = nothingShown(view);
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
