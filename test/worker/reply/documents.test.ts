import { describe, expect, it } from 'vitest';
import type { ReplyPart, UpstreamReply } from '../../../packages/model/reader.ts';
import { splitsOf } from '../../../packages/model/test/splits.ts';
import { BUILT_IN } from '../../../shared/tools/toolbox.ts';
import type { Document } from '../../../shared/wire/documents.ts';
import { TapeEvent } from '../../../shared/wire/events.ts';
import { foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import { ReplyDocuments } from '../../../worker/reply/documents.ts';

type Call = UpstreamReply['calls'][number];

/** Title -> the parts of a reply, what is known of its calls at the end, and the documents it becomes. */
type Case = readonly [string, readonly ReplyPart[], readonly Call[], readonly Document[]];

const MARKDOWN = { format: 'markdown' };

const CASES: readonly Case[] = [
  ['nothing becomes nothing', [], [], []],
  ['reasoning is not shown', [{ type: 'reasoning', text: 'Hm.' }], [], []],
  [
    'text with code becomes text, a code block and a reference',
    [text('Look:\n```12:14:src/main.py\nx = 1\n```\nNow:\n\n```ts\nlet y;\n```\n')],
    [],
    [
      document(1, 'text', 'Look:', MARKDOWN),
      document(2, 'code_reference', 'x = 1', {
        filePath: 'src/main.py',
        startLine: 12,
        endLine: 14,
        language: 'python',
      }),
      document(3, 'text', 'Now:', MARKDOWN),
      document(4, 'code_block', 'let y;', { language: 'ts', purpose: 'new_code' }),
    ],
  ],
  [
    'code is an example or a suggestion by the line right before it',
    [
      text(
        'Such as, for example:\n\n```js\na\n```\n```js\nb\n```\nI suggest\nthat:\n~~~js\nc\n~~~',
      ),
    ],
    [],
    [
      document(1, 'text', 'Such as, for example:', MARKDOWN),
      document(2, 'code_block', 'a', { language: 'js', purpose: 'example' }),
      document(3, 'code_block', 'b', { language: 'js', purpose: 'new_code' }),
      document(4, 'text', 'I suggest\nthat:', MARKDOWN),
      document(5, 'code_block', 'c', { language: 'js', purpose: 'new_code' }),
    ],
  ],
  [
    'a call ends the text before it, and text behind it is another document',
    [text('One '), call(0, 'list_dir', '{"target_directory":"."}'), text('two.')],
    [parsed('list_dir', { target_directory: '.' })],
    [
      document(1, 'text', 'One', MARKDOWN),
      toolCall(2, 1, 'list_dir', { target_directory: '.' }),
      document(3, 'text', 'two.', MARKDOWN),
    ],
  ],
  [
    'code goes on behind a call, until its fence is closed',
    [text('```sh\nls\n'), call(0, 'list_dir', '{}'), text('pwd\n```\nDone.')],
    [parsed('list_dir', {})],
    [
      document(1, 'code_block', 'ls', { language: 'sh', purpose: 'new_code' }),
      toolCall(2, 1, 'list_dir', {}),
      document(3, 'code_block', 'pwd', { language: 'sh', purpose: 'new_code' }),
      document(4, 'text', 'Done.', MARKDOWN),
    ],
  ],
  [
    'a tool is shown under its own name, and its arguments under theirs',
    [call(0, 'Read', '{"path":"a.ts","limit":3}')],
    [parsed('Read', { path: 'a.ts', limit: 3 })],
    [toolCall(1, 1, 'read_file', { target_file: 'a.ts', limit: 3 })],
  ],
  [
    'an unknown tool is a tool call',
    [call(0, 'make_coffee', '{"path":"a"}')],
    [parsed('make_coffee', { path: 'a' })],
    [toolCall(1, 1, 'make_coffee', { path: 'a' })],
  ],
  [
    'a written file streams as its content',
    [call(0, 'write', '{"path":"src/a.py","contents":"x = \\"é\\"\\n"}')],
    [parsed('write', { path: 'src/a.py', contents: 'x = "é"\n' })],
    [edit(1, 'x = "é"\n', 'src/a.py', 'create', 'python')],
  ],
  [
    'other names of a path and a content are known',
    [call(0, 'Write', '{"file_path":"a.md","content":"# A"}')],
    [parsed('Write', { file_path: 'a.md', content: '# A' })],
    [edit(1, '# A', 'a.md', 'create', 'markdown')],
  ],
  [
    'a replacement shows its new text',
    [call(0, 'str_replace', '{"file_path":"a.rs","old_string":"1","new_string":"2"}')],
    [parsed('str_replace', { file_path: 'a.rs', old_string: '1', new_string: '2' })],
    [edit(1, '2', 'a.rs', 'edit', 'rust')],
  ],
  [
    'several replacements have no content',
    [call(0, 'str_replace', '{"file_path":"a.rs","edits":[{"old_string":"1","new_string":"2"}]}')],
    [parsed('str_replace', { file_path: 'a.rs', edits: [{ old_string: '1', new_string: '2' }] })],
    [edit(1, null, 'a.rs', 'edit', 'rust')],
  ],
  [
    'a deletion has no content',
    [call(0, 'delete_file', '{"target_file":"a.go"}')],
    [parsed('delete_file', { target_file: 'a.go' })],
    [edit(1, null, 'a.go', 'delete', 'go')],
  ],
  [
    'a command is shown with its line',
    [call(0, 'Shell', '{"explanation":"because","command":"ls -l"}')],
    [parsed('Shell', { explanation: 'because', command: 'ls -l' })],
    [document(1, 'terminal_command', null, { toolCallId: 'call_1', command: 'ls -l' })],
  ],
  [
    'arguments can come before the name',
    [call(0, undefined, '{"path":"a.c","cont'), call(0, 'write', 'ents":"int"}')],
    [parsed('write', { path: 'a.c', contents: 'int' })],
    [edit(1, 'int', 'a.c', 'create', 'c')],
  ],
  [
    'calls whose fragments alternate do not mix',
    [
      call(0, 'write', '{"path":"a.js",'),
      call(1, 'write', '{"path":"b.js",'),
      call(0, undefined, '"contents":"A'),
      call(1, undefined, '"contents":"B'),
      call(0, undefined, 'A"}'),
      call(1, undefined, 'B"}'),
    ],
    [
      parsed('write', { path: 'a.js', contents: 'AA' }),
      parsed('write', { path: 'b.js', contents: 'BB' }),
    ],
    [edit(1, 'AA', 'a.js', 'create', 'javascript'), edit(2, 'BB', 'b.js', 'create', 'javascript')],
  ],
  [
    'arguments that are no JSON show what was read of them',
    [call(0, 'write', '{"path":"a.txt","contents":"half')],
    [{ ...parsed('write', {}), arguments: null, mayExecute: false }],
    [edit(1, 'half', 'a.txt', 'create', 'plaintext')],
  ],
  [
    'arguments that were no plain JSON are shown at the end',
    [call(0, 'write', '"{\\"path\\":\\"a.ts\\",\\"contents\\":\\"x\\"}"')],
    [parsed('write', { path: 'a.ts', contents: 'x' })],
    [edit(1, 'x', 'a.ts', 'create', 'typescript')],
  ],
  [
    'a call without a name is shown at the end',
    [call(0, undefined, '{}'), call(1, 'list_dir', '{}')],
    [parsed('unnamed_tool', {}), parsed('list_dir', {})],
    [toolCall(1, 2, 'list_dir', {}), toolCall(2, 1, 'unnamed_tool', {})],
  ],
];

it.each(CASES)('the documents of a reply %s', (_, parts, calls, documents) => {
  for (const split of splitsOfParts(parts)) expect(documentsOf(split, calls)).toEqual(documents);
});

describe('the events of a reply', () => {
  it('streams a written file, and leaves its document open', () => {
    const documents = newDocuments();
    expect(documents.push([call(0, 'write', '{"path":"a.')])).toEqual([]);
    expect(documents.push([call(0, undefined, 'ts"')])).toEqual([
      start(1, 'file_edit', { filePath: 'a.ts', operation: 'create', language: 'typescript' }),
      toolStart(1, 'write'),
    ]);
    expect(documents.push([call(0, undefined, ',"contents":"let ')])).toEqual([delta(1, 'let ')]);
    expect(documents.push([call(0, undefined, 'x'), call(0, undefined, ';"}')])).toEqual([
      delta(1, 'x;'),
    ]);
    const args = { path: 'a.ts', contents: 'let x;' };
    expect(documents.end(reply([parsed('write', args)]))).toEqual({
      events: [toolArguments(1, args)],
      calls: [{ ...parsed('write', args), callId: 'call_1', documentId: 'doc_001' }],
    });
  });

  it('does not wait for a path when the content comes first', () => {
    const documents = newDocuments();
    expect(documents.push([call(0, 'write', '{"contents":"x","path":"a.ts"}')])).toEqual([
      start(1, 'file_edit', { operation: 'create' }),
      toolStart(1, 'write'),
      delta(1, 'x'),
    ]);
  });

  it('starts a call at once when nothing of it is waited for', () => {
    expect(newDocuments().push([call(0, 'grep', '')])).toEqual([
      start(1, 'tool_call', { toolName: 'grep' }),
      toolStart(1, 'grep'),
    ]);
  });

  it('starts a command when its line is whole, and one without a line at the end', () => {
    const documents = newDocuments();
    expect(documents.push([call(0, 'run_terminal_cmd', '{"command":"l')])).toEqual([]);
    expect(documents.push([call(0, undefined, 's"}')])).toEqual([
      start(1, 'terminal_command', { command: 'ls' }),
      toolStart(1, 'run_terminal_cmd'),
    ]);
    expect(documents.push([call(1, 'run_terminal_cmd', '{}')])).toEqual([]);
    const calls = [parsed('run_terminal_cmd', { command: 'ls' }), parsed('run_terminal_cmd', {})];
    expect(documents.end(reply(calls)).events).toEqual([
      toolArguments(1, { command: 'ls' }),
      start(2, 'terminal_command'),
      toolStart(2, 'run_terminal_cmd', 2),
      toolArguments(2, {}),
    ]);
  });

  it('starts documents in the order of their calls', () => {
    expect(newDocuments().push([call(0, 'write', '{"path":"a'), call(1, 'grep', '{}')])).toEqual([
      start(1, 'file_edit', { operation: 'create' }),
      toolStart(1, 'write'),
      start(2, 'tool_call', { toolName: 'grep' }),
      toolStart(2, 'grep', 2),
    ]);
  });

  it('starts a waiting call before the text that follows it', () => {
    const events = newDocuments().push([call(0, 'write', '{"path":"a'), text('Then.')]);
    expect(events).toEqual([
      start(1, 'file_edit', { operation: 'create' }),
      toolStart(1, 'write'),
      start(2, 'text', MARKDOWN),
      delta(2, 'Then.'),
    ]);
  });

  it('costs as much as there are calls, however many stand before a text', () => {
    const count = 60_000;
    const calls = Array.from({ length: count }, (_, number) => call(number, 'list_dir', '{}'));
    const documents = newDocuments();
    const events = [...calls, ...calls.map(() => text('a'))].flatMap((part) =>
      documents.push([part]),
    );
    // With a look at every call for each part this test would take minutes.
    expect(events.filter(({ type }) => type === 'tool_call_start')).toHaveLength(count);
  });

  it('starts a call whose name comes last of all', () => {
    const documents = newDocuments();
    documents.push([call(0, undefined, '{"target_directory":"a"}'), call(1, 'list_dir', '{}')]);
    expect(documents.push([text('a'), call(0, 'list_dir', '')])).toContainEqual(
      toolStart(3, 'list_dir', 1),
    );
  });

  it('goes on with one text when fragments of an earlier call lie between', () => {
    const events = newDocuments().push([
      call(0, 'grep', '{'),
      text('One'),
      call(0, undefined, '}'),
      text(' text.'),
    ]);
    expect(events).toEqual([
      start(1, 'tool_call', { toolName: 'grep' }),
      toolStart(1, 'grep'),
      start(2, 'text', MARKDOWN),
      delta(2, 'One text.'),
    ]);
  });

  it('gives empty arguments where they are not valid, and passes on why', () => {
    const documents = newDocuments();
    documents.push([call(0, 'grep', '{"a')]);
    const broken = {
      ...parsed('grep', {}),
      arguments: null,
      mayExecute: false,
      problem: 'Not run.',
      extra: { note: 1 },
    };
    expect(documents.end(reply([broken]))).toEqual({
      events: [toolArguments(1, {})],
      calls: [{ ...broken, callId: 'call_1', documentId: 'doc_001' }],
    });
  });

  it('gives calls with the names of arguments that the tool has', () => {
    const { calls } = newDocuments().end(reply([parsed('Read', { path: 'a', offset: 2 })]));
    expect(calls).toEqual([
      {
        ...parsed('Read', { target_file: 'a', offset: 2 }),
        rawArguments: '{"path":"a","offset":2}',
        callId: 'call_1',
        documentId: 'doc_001',
      },
    ]);
  });

  it('knows no argument that is not shown', () => {
    const args = JSON.parse('{"__proto__":{"path":"a","contents":"b"}}');
    const { calls } = newDocuments().end(reply([parsed('write', args)]));
    expect(calls[0]?.arguments).not.toHaveProperty('path');
  });

  it('shows what the model thought where that is asked for, apart from what it says', () => {
    const parts: ReplyPart[] = [
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'think.' },
      text('Well.'),
      { type: 'reasoning', text: 'Hm.' },
      call(0, 'list_dir', '{}'),
    ];
    const documents = newDocuments(true);
    const events = parts.flatMap((part) => documents.push([part]));
    expect(events).toEqual([
      start(1, 'reasoning', { format: 'plain' }),
      delta(1, 'Let me '),
      delta(1, 'think.'),
      { type: 'document_end', documentId: idOf(1) },
      start(2, 'text', MARKDOWN),
      delta(2, 'Well.'),
      { type: 'document_end', documentId: idOf(2) },
      start(3, 'reasoning', { format: 'plain' }),
      delta(3, 'Hm.'),
      { type: 'document_end', documentId: idOf(3) },
      start(4, 'tool_call', { toolName: 'list_dir' }),
      toolStart(4, 'list_dir'),
    ]);
  });

  it.each<[string, readonly ReplyPart[]]>([
    ['text', [text('One'), thought('Hm.'), text('two.')]],
    ['code', [text('```sh\nls\n'), thought('Hm.'), text('pwd\n```\nDone.')]],
    ['a fence', [text('a ```'), thought('Hm.'), text('```sh\nls\n```\nDone.')]],
    [
      'a call',
      [text('One'), call(0, 'write', '{"path":'), thought('Hm.'), call(0, undefined, '"a"}')],
    ],
  ])('has the same other documents whether thoughts are shown or not: %s', (_, parts) => {
    const calls = parts.some(({ type }) => type === 'call') ? [parsed('write', { path: 'a' })] : [];
    const sent = [true, false].map((withReasoning) =>
      documentsOf(parts, calls, withReasoning)
        .filter(({ type }) => type !== 'reasoning')
        .map(({ type, content }) => [type, content]),
    );
    expect(sent[0]).toEqual(sent[1]);
  });

  it('streams a plan while the model still writes it', () => {
    const documents = newDocuments();
    expect(documents.push([call(0, 'create_plan', '{"name":"P","plan":"# Pl')])).toEqual([
      start(1, 'plan'),
      toolStart(1, 'create_plan'),
      delta(1, '# Pl'),
    ]);
    expect(documents.push([call(0, undefined, 'an\\n- one')])).toEqual([delta(1, 'an\n- one')]);
  });

  it('numbers on from where it is sent', () => {
    const documents = new ReplyDocuments({
      nextSequence: 1000,
      newCallId: () => 'call_1',
      withReasoning: false,
      toolbox: BUILT_IN,
    });
    expect(documents.push([text('a')])[0]).toEqual(start(1000, 'text', MARKDOWN));
  });
});

function newDocuments(withReasoning = false): ReplyDocuments {
  let calls = 0;
  const newCallId = () => `call_${++calls}`;
  return new ReplyDocuments({ nextSequence: 1, newCallId, withReasoning, toolbox: BUILT_IN });
}

/** Whole; every part in two at every point; and every part unit by unit. */
function splitsOfParts(parts: readonly ReplyPart[]): ReplyPart[][] {
  const cut = (part: ReplyPart, pieces: readonly string[]): ReplyPart[] =>
    pieces.map((piece, index) => {
      if (part.type !== 'call') return { ...part, text: piece };
      const { name: _, ...rest } = part;
      return { ...(index === 0 ? part : rest), arguments: piece };
    });
  const textOf = (part: ReplyPart) => (part.type === 'call' ? (part.arguments ?? '') : part.text);
  return [
    [...parts],
    ...parts.flatMap((part, at) =>
      [...splitsOf(textOf(part))].map((pieces) => parts.toSpliced(at, 1, ...cut(part, pieces))),
    ),
    parts.flatMap((part) => cut(part, [...textOf(part)])),
  ];
}

/** What a client has in the end; every event is checked against its schema. */
function documentsOf(
  parts: readonly ReplyPart[],
  calls: readonly Call[],
  withReasoning = false,
): Document[] {
  const documents = newDocuments(withReasoning);
  const events = parts.flatMap((part) => documents.push([part]));
  const response = newResponse({
    id: 'chat_1',
    conversationId: 'conv_1',
    model: 'm',
    mode: 'agent',
    created: '2026-11-20T00:00:00Z',
  });
  for (const event of [...events, ...documents.end(reply(calls)).events]) {
    if (!('toolCallId' in event)) expect(TapeEvent.parse(event)).toEqual(event);
    foldEvent(response, event);
  }
  return response.documents;
}

function reply(calls: readonly Call[]): UpstreamReply {
  const rest = { finishReason: 'stop', text: '', reasoning: null, usage: null, error: null };
  return { outcome: 'completed', ...rest, calls };
}

function text(words: string): ReplyPart {
  return { type: 'text', text: words };
}

function thought(words: string): ReplyPart {
  return { type: 'reasoning', text: words };
}

function call(number: number, name: string | undefined, fragment: string): ReplyPart {
  return {
    type: 'call',
    call: number,
    ...(name !== undefined && { name }),
    ...(fragment !== '' && { arguments: fragment }),
  };
}

function parsed(name: string, args: Record<string, unknown>): Call {
  const rawArguments = JSON.stringify(args);
  return { id: 'upstream', name, rawArguments, arguments: args, mayExecute: true };
}

function document(
  sequence: number,
  type: Document['type'],
  content: string | null,
  metadata: Document['metadata'],
): Document {
  return { id: idOf(sequence), type, sequence, content, metadata };
}

/** The document of the call with the same number. */
function edit(
  sequence: number,
  content: string | null,
  filePath: string,
  operation: 'create' | 'edit' | 'delete',
  language: string,
): Document {
  const toolCallId = `call_${sequence}`;
  return document(sequence, 'file_edit', content, { toolCallId, filePath, operation, language });
}

function toolCall(sequence: number, number: number, toolName: string, args: object): Document {
  const metadata = { toolName, toolCallId: `call_${number}`, arguments: args };
  return document(sequence, 'tool_call', null, metadata);
}

function start(sequence: number, type: Document['type'], metadata?: object): object {
  const known = { id: idOf(sequence), type, sequence };
  return { type: 'document_start', document: metadata ? { ...known, metadata } : known };
}

function toolStart(sequence: number, toolName: string, number = 1): object {
  const documentId = idOf(sequence);
  return { type: 'tool_call_start', documentId, toolName, toolCallId: `call_${number}` };
}

function delta(sequence: number, words: string): object {
  return { type: 'content_delta', documentId: idOf(sequence), delta: words };
}

function toolArguments(sequence: number, args: object): object {
  return { type: 'tool_call_arguments', documentId: idOf(sequence), arguments: args };
}

function idOf(sequence: number): string {
  return `doc_${String(sequence).padStart(3, '0')}`;
}
