import { expect, it } from 'vitest';
import { ownCommand } from '../../../cli/terminal/own-command.ts';
import { documentIdOf } from '../../../shared/ids.ts';
import {
  begunEventsOf,
  deltaOf,
  doneWith,
  endOf,
  eventsOf,
  openTranscript,
  RESPONSE,
  type WholeDocument,
} from './shown-transcript.ts';

const FAILED = { status: 'error', data: 'There is no such file.\nLook first.' };

/** Each kind of document with the lines that show it. */
const SHOWN: readonly (readonly [string, WholeDocument, readonly string[]])[] = [
  [
    'Markdown',
    { type: 'text', content: '# A\nb **c** `d`\n- e\n- f\n\n[g](http://h.test)' },
    ['A', '', 'b c d', '- e', '- f', '', 'g (http://h.test)'],
  ],
  [
    'text after a dollar sign as Markdown',
    { type: 'text', content: 'Set $A=/b and **c** and `$D`.' },
    ['Set $A=/b and c and $D.'],
  ],
  [
    'a block of code in Markdown',
    { type: 'text', content: 'a\n\n```sh\nb $c\n```\n\n~~~\nd\n~~~\ne' },
    ['a', '', 'sh', '  b $c', '', '  d', '', 'e'],
  ],
  [
    'code',
    { type: 'code_block', content: '\tif (a)\n\nb();\n', metadata: { language: 'ts' } },
    ['ts', '      if (a)', '', '  b();'],
  ],
  [
    'code of a file',
    {
      type: 'code_reference',
      content: 'a\nb',
      metadata: { filePath: 'c.ts', startLine: 9, endLine: 10, language: 'ts' },
    },
    ['c.ts:9-10', ' 9  a', '10  b'],
  ],
  [
    'a call that succeeded',
    {
      type: 'tool_call',
      metadata: {
        toolName: 'grep',
        arguments: { pattern: 'a', path: 'b' },
        result: { status: 'success', data: '1\n2' },
      },
    },
    ['• grep a b → 2 lines'],
  ],
  [
    'a call that failed',
    { type: 'tool_call', metadata: { toolName: 'grep', arguments: {}, result: FAILED } },
    ['• grep failed'],
  ],
  [
    'images of a call',
    {
      type: 'tool_call',
      metadata: {
        toolName: 'look',
        arguments: {},
        images: [{ mimeType: 'image/png', data: 'A'.repeat(4_000) }],
      },
    },
    ['• look', '  image: image/png, 3 KB'],
  ],
  [
    'an undo',
    {
      type: 'tool_call',
      metadata: {
        toolName: 'undo',
        arguments: {},
        undo: {
          digest: 'd',
          files: [
            { path: 'a', action: 'restore' },
            { path: 'b', action: 'keep', reason: 'It was changed.' },
          ],
        },
      },
    },
    ['• undo', '  restore a', '  keep b: It was changed.'],
  ],
  [
    'the end of work in a branch of its own',
    {
      type: 'tool_call',
      metadata: { toolName: 'close_worktree', arguments: { commit: true, message: 'Fix it' } },
    },
    ['• close_worktree Fix it'],
  ],
  [
    'a subagent',
    {
      type: 'tool_call',
      metadata: {
        toolName: 'task',
        arguments: { description: 'Look', prompt: 'Look everywhere.', subagent_type: 'explore' },
        subagent: {
          type: 'explore',
          model: 'm',
          status: 'streaming',
          turnCount: 2,
          toolCallCount: 3,
          activity: 'grep',
        },
      },
    },
    ['• task Look', '  explore (m): cancelled · 2 turns · 3 tool calls'],
  ],
  [
    'an edit with what was found in it',
    {
      type: 'file_edit',
      metadata: {
        filePath: 'a.ts',
        operation: 'edit',
        diff: { oldString: 'a\nb', newString: 'a\nc', startLine: 9, endLine: 10 },
        linter_errors: [{ line: 10, column: 1, message: 'c is not known', source: 'ts 2304' }],
        checked_by: 'tsserver',
        formatted_by: 'biome',
      },
    },
    [
      '• edit a.ts +1 −1',
      '   9  9   a',
      '  10    − b',
      '     10 + c',
      '  a.ts:10:1 c is not known (ts 2304)',
      '  checked by tsserver',
      '  formatted by biome',
    ],
  ],
  [
    'an edit that was not made',
    { type: 'file_edit', metadata: { filePath: 'a.ts', operation: 'edit', result: FAILED } },
    ['• edit a.ts not applied', '  There is no such file.', '  Look first.'],
  ],
  [
    'a renamed file',
    {
      type: 'file_edit',
      metadata: { filePath: 'a.ts', newPath: 'b.ts', operation: 'rename', diff: null },
    },
    ['• rename a.ts → b.ts'],
  ],
  [
    'a new file',
    {
      type: 'file_edit',
      content: 'a\nb\n',
      metadata: { filePath: 'a', operation: 'create', diff: null },
    },
    ['• create a +2 −0', '    1 + a', '    2 + b'],
  ],
  [
    'a command',
    {
      type: 'terminal_command',
      metadata: {
        command: 'make\nmake test',
        workingDirectory: 'a',
        output: 'one\r\n10%\r20%\n\u001b[31mred\u001b[0m',
        exitCode: 2,
        duration_ms: 1_500,
      },
    },
    ['$ make', '  make test', '  in a', '  one', '  20%', '  red', '  exit code 2 after 1.5 s'],
  ],
  [
    'a command that runs on',
    {
      type: 'terminal_command',
      metadata: { command: 'a', output: '', process_id: 'p1', duration_ms: 1 },
    },
    ['$ a', '  runs on in the background as p1'],
  ],
  [
    'what a command left behind',
    {
      type: 'terminal_command',
      metadata: {
        command: 'a',
        output: '',
        exitCode: 0,
        newlyProtected: [{ name: 'b', quarantined: false, what: [] }],
      },
    },
    ['$ a', '  exit code 0', '  ! b is new; nothing in it starts programs.'],
  ],
  [
    'an answered approval',
    {
      type: 'terminal_command',
      metadata: {
        command: 'a',
        output: '',
        answered: { decision: 'once', scope: 'always', by: 'device' },
      },
    },
    ['$ a', '  Allowed from now on on a device'],
  ],
  [
    'a plan',
    {
      type: 'plan',
      content: '1. a',
      metadata: {
        title: 'B',
        overview: 'c',
        format: 'markdown',
        todos: [{ id: 'd', content: 'e', status: 'completed', dependencies: ['f'] }],
      },
    },
    ['1. a', '', 'Plan: B', 'c', '', '[x] d: e (after f)'],
  ],
  [
    'changed todos',
    {
      type: 'todo_update',
      metadata: { todos: [{ id: 'a', status: 'in_progress', content: 'b' }] },
    },
    ['[~] b'],
  ],
  [
    'answered questions',
    {
      type: 'clarification',
      metadata: {
        questions: [
          { id: 'a', text: 'Which?', options: [{ id: '1', label: 'This' }] },
          { id: 'b', text: 'Why?', options: [] },
        ],
        answers: [{ questionId: 'a', optionIds: ['1'], text: 'now' }],
      },
    },
    ['? Which?', '  → This; now', '? Why?', '  → skipped'],
  ],
  [
    'an error with what to do',
    {
      type: 'error',
      content: 'No.',
      metadata: { errorCode: 'A', source: 'tool', details: 'Do b.' },
    },
    ['error A: No.', '  Do b.'],
  ],
  [
    'an error with a command, as it can be typed here',
    {
      type: 'error',
      content: 'No.',
      metadata: { errorCode: 'A', source: 'tool', details: 'Run `drawbridge check`.' },
    },
    ['error A: No.', `  Run \`${ownCommand('check')}\`.`],
  ],
  [
    'a type of a later version',
    { type: 'hologram' as 'text', content: 'a' },
    ['This version does not know “hologram”.', 'a'],
  ],
];

it.each(SHOWN)('shows %s', async (_, document, expected) => {
  const { show, lines } = await openTranscript();
  show(...eventsOf(document, 1), doneWith('completed'));
  expect(lines()).toEqual(['', '❯ Do it.', '', ...expected, '', '1 turn · 1.2 s']);
});

it('says that an approval, a question and a subagent wait', async () => {
  const { show, lines } = await openTranscript();
  show(...begunEventsOf({ type: 'terminal_command', metadata: { command: 'a' } }, 1));
  const ask = {
    callId: 'call_00000000-0000-4000-8000-000000000000',
    bridgeId: 'bridge_00000000-0000-4000-8000-000000000000',
    nonce: 'n',
    proposal: { kind: 'call', tool: 'run', arguments: {} },
    reason: 'No rule allows it.',
  } as const;
  show({ type: 'approval_request', documentId: documentIdOf(1), ...ask });
  expect(lines().slice(3)).toEqual(['$ a', '  ? run waits for you: No rule allows it.']);
  show(...begunEventsOf({ type: 'clarification', content: 'First:' }, 2), {
    type: 'clarification_request',
    documentId: documentIdOf(2),
    questions: [{ id: 'a', text: 'Which?', options: [] }],
  });
  expect(lines().slice(-3)).toEqual(['First:', '? Which?', '  ? This waits for you.']);
  show(...begunEventsOf({ type: 'tool_call', metadata: { toolName: 'task' } }, 3), {
    type: 'subagent_ask',
    documentId: documentIdOf(3),
    ask: {
      ...ask,
      kind: 'approval',
      conversationId: 'conv_10000000-0000-4000-8000-000000000000',
      responseId: 'chat_10000000-0000-4000-8000-000000000001',
      documentId: documentIdOf(1),
      title: 'Look',
    },
  });
  expect(lines().slice(-2)).toEqual(['• task', '  ? The subagent “Look” waits for you.']);
});

it('shows once why a command failed, and not again as an error behind it', async () => {
  const { show, lines } = await openTranscript();
  const result = { status: 'error', data: 'The person rejected this call.' };
  const rejected: WholeDocument = {
    type: 'error',
    content: 'The call was rejected.',
    metadata: { errorCode: 'REJECTED', source: 'run', details: result.data },
  };
  show(
    ...eventsOf({ type: 'terminal_command', metadata: { command: 'a', result } }, 1),
    ...eventsOf(rejected, 2),
    ...eventsOf({ type: 'text', content: 'Then not.' }, 3),
  );
  expect(lines().slice(3)).toEqual([
    ...['$ a', '  The person rejected this call.', '', 'Then not.'],
  ]);
});

it('keeps calls in a row together', async () => {
  const { show, lines } = await openTranscript();
  const call = (name: string): WholeDocument => {
    return { type: 'tool_call', metadata: { toolName: name, arguments: {} } };
  };
  show(...begunEventsOf(call('a'), 1), ...begunEventsOf(call('b'), 2));
  show(...eventsOf({ type: 'text', content: 'c' }, 3), ...begunEventsOf(call('d'), 4));
  expect(lines().slice(3)).toEqual(['• a', '• b', '', 'c', '', '• d']);
});

it('shows messages that steer where the model got them, and where others come from', async () => {
  const { show, lines } = await openTranscript();
  const steer = (content: string) =>
    show({
      type: 'message',
      message: { responseId: RESPONSE, content, created: '', steers: true, device: 'there' },
    });
  show(...eventsOf({ type: 'text', content: 'a' }, 1));
  steer('b');
  show({ type: 'steered', responseId: RESPONSE });
  steer('c');
  show(...eventsOf({ type: 'text', content: 'd' }, 2));
  expect(lines().slice(3)).toEqual([...['a', '', '❯ b', '  there', '', 'd', '', '❯ c', '  there']]);
});

it('says what a message named in vain', async () => {
  const { show, lines } = await openTranscript();
  show({
    type: 'attached',
    responseId: RESPONSE,
    attachments: [{ type: 'none', name: 'a.ts', reason: 'It does not exist.' }],
  });
  expect(lines().slice(1)).toEqual(['❯ Do it.', '  @a.ts is not attached: It does not exist.']);
});

it('keeps words of the terminal where they were said', async () => {
  const { show, lines, transcript } = await openTranscript();
  show(...eventsOf({ type: 'text', content: 'a' }, 1));
  show({ type: 'response_model', model: 'other' }, ...eventsOf({ type: 'text', content: 'b' }, 2));
  transcript.say('Said.');
  show(...eventsOf({ type: 'text', content: 'c' }, 3), doneWith('cancelled'));
  expect(lines().slice(3)).toEqual([
    ...['a', '', 'other answers from here on.', '', 'b', '', 'c'],
    ...['', 'Cancelled.', '1 turn · 1.2 s', '', 'Said.'],
  ]);
});

it('says once that an interruption took a part of the answer back', async () => {
  const { show, lines } = await openTranscript();
  show(...eventsOf({ type: 'text', content: 'a' }, 1));
  const [begun, text] = eventsOf({ type: 'text', content: 'lost' }, 2);
  if (begun && text) show(begun, text);
  show(endOf(2, { interrupted: true }), endOf(2, { interrupted: true }));
  show(...eventsOf({ type: 'text', content: 'again' }, 3));
  const all = lines().join('\n');
  expect(all).not.toContain('lost');
  expect(all.match(/withdrawn/g)).toHaveLength(1);
  expect(all.indexOf('withdrawn')).toBeLessThan(all.indexOf('again'));
});

it('shows what replaces a response of the same name', async () => {
  const { show, lines, view } = await openTranscript();
  show(...eventsOf({ type: 'text', content: 'a' }, 1));
  expect(lines().at(-1)).toBe('a');
  const conversation = structuredClone(view);
  const [response] = conversation.responses;
  if (response?.documents[0]) response.documents[0].content = 'b';
  show({ type: 'snapshot', snapshot: { scope: 'conversation', conversation } });
  expect(lines().at(-1)).toBe('b');
  show(endOf(1, { interrupted: true }));
  expect(lines().slice(0, 3)).toEqual(['', '❯ Do it.', '']);
  expect(lines().join(' ')).not.toMatch(/ [ab] /);
});

it('folds a long output to its last lines, and unfolds it', async () => {
  const { show, lines, look, transcript } = await openTranscript();
  show(...begunEventsOf({ type: 'terminal_command', metadata: { command: 'a' } }, 1));
  const output = Array.from({ length: 50_000 }, (_, at) => `line ${at}\n`).join('');
  show({ type: 'tool_output', documentId: documentIdOf(1), delta: output });
  expect(lines().slice(3, 6)).toEqual([
    '$ a',
    '  … 49992 earlier lines (Ctrl-O shows them)',
    '  line 49992',
  ]);
  expect(lines()).toHaveLength(13);
  look.isExpanded = true;
  transcript.invalidate();
  expect(lines()).toHaveLength(1_005);
});

it('folds a long diff, and leaves out rows that are far from a change', async () => {
  const { show, lines } = await openTranscript();
  const old = Array.from({ length: 100 }, (_, at) => `${at + 1}`);
  const fresh = old.map((line) => (line === '50' ? 'fifty' : line));
  const diff = {
    startLine: 1,
    endLine: 100,
    oldString: old.join('\n'),
    newString: fresh.join('\n'),
  };
  const edit: WholeDocument = {
    type: 'file_edit',
    metadata: { filePath: 'a', operation: 'edit', diff },
  };
  show(...eventsOf(edit, 1));
  expect(lines(40).slice(3)).toEqual([
    ...['• edit a +1 −1', '  47   47', '  48   48', '  49   49'],
    ...['  50 − 50', '  50 + fifty', '  51   51', '  52   52', '  53   53'],
  ]);
  const longer = { ...diff, newString: fresh.map((line) => `${line}!`).join('\n') };
  show(...eventsOf({ ...edit, metadata: { ...edit.metadata, diff: longer } }, 2));
  expect(lines(40).at(-1)).toBe('  … 176 more lines (Ctrl-O shows them)');
});

it('shows what the model thinks in one line, and whole when unfolded', async () => {
  const { show, lines, look, transcript } = await openTranscript();
  show(...begunEventsOf({ type: 'reasoning', content: 'First.\nThen' }, 1));
  expect(lines().at(-1)).toBe('Thinking: Then');
  show(deltaOf(' more.'), endOf(1), doneWith('completed'));
  expect(lines().slice(3, 5)).toEqual(['Thought for 1 s', '']);
  look.isExpanded = true;
  transcript.invalidate();
  expect(lines().slice(3, 6)).toEqual(['Thought for 1 s', '  First.', '  Then more.']);
});

it('says of an approval that was answered on this screen that it was here', async () => {
  const { show, lines, look } = await openTranscript();
  look.answeredHere.add(`${RESPONSE} ${documentIdOf(1)}`);
  const answered = { decision: 'once', by: 'device' };
  const metadata = { command: 'a', output: '', answered };
  show(...eventsOf({ type: 'terminal_command', metadata }, 1));
  expect(lines()).toContain('  Allowed once here');
});
