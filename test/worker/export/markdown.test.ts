import { describe, expect, it } from 'vitest';
import type { ConversationExport } from '../../../shared/api/conversations.ts';
import { documentTypes } from '../../../shared/wire/document-types.ts';
import type { ChatResponse, Document } from '../../../shared/wire/documents.ts';
import { attachmentNamed } from '../../../worker/export/file-name.ts';
import { markdownOf } from '../../../worker/export/markdown.ts';
import { renderDocument } from '../../../worker/export/markdown-documents.ts';

const CONVERSATION = 'conv_00000000-0000-4000-8000-000000000000';
const RESPONSE = 'chat_00000000-0000-4000-8000-000000000001';
const CREATED = '2026-11-20T12:34:56.000Z';

it('puts a message that steered the answer where the model learned of it', async () => {
  const at = (sequence: number): Document => ({
    id: `doc_00${sequence}`,
    type: 'text',
    sequence,
    content: `Text ${sequence}.`,
    metadata: {},
  });
  const said = (content: string, more: object) => ({
    responseId: RESPONSE,
    content,
    created: CREATED,
    ...more,
  });
  const page = await pageOf({
    id: CONVERSATION,
    title: 'T',
    archived: false,
    created: CREATED,
    bridgeId: null,
    messages: [
      said('Asked.', {}),
      said('Late.', { steers: true }),
      said('Early.', { steers: true, afterSequence: 0 }),
      said('Between.', { steers: true, afterSequence: 2 }),
    ],
    responses: [
      {
        id: RESPONSE,
        conversationId: CONVERSATION,
        model: 'm',
        mode: 'agent',
        created: CREATED,
        status: 'completed',
        usage: null,
        documents: [at(1), at(3)],
        metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
      },
    ],
  });
  const order = ['Asked.', 'Early.', 'Text 1.', 'Between.', 'Text 3.', 'Late.'];
  expect(page.match(/(Asked|Early|Text 1|Between|Text 3|Late)\./g)).toEqual(order);
});

describe('a document as Markdown', () => {
  it.each<[string, Partial<Document>, string]>([
    ['text stands as it is', { type: 'text', content: '\nSee *this*.\n\n' }, 'See *this*.'],
    [
      "a text's first line keeps its indentation",
      { type: 'text', content: ' \n\n    let a;\n    let b;\n\nCode.\n' },
      '    let a;\n    let b;\n\nCode.',
    ],
    [
      'and so does that of a plan',
      { type: 'plan', content: '\n  - a\n  - b\n', metadata: { title: 'P' } },
      '**Plan: P**\n\n  - a\n  - b',
    ],
    [
      'and that of a thought',
      { type: 'reasoning', content: '\n    a\n' },
      '<details>\n<summary>Reasoning</summary>\n\n>     a\n\n</details>',
    ],
    [
      'blank lines at both ends of code stay',
      { type: 'code_block', content: '\n  a\n\n', metadata: { language: 'py' } },
      '```py\n\n  a\n\n\n```',
    ],
    [
      'code stands in a fence',
      { type: 'code_block', content: 'let a;', metadata: { language: 'ts' } },
      '```ts\nlet a;\n```',
    ],
    [
      'code with fences stands in a longer one',
      { type: 'code_block', content: '````\n```', metadata: { language: 'md`x' } },
      '`````mdx\n````\n```\n`````',
    ],
    [
      'a reference names its lines',
      {
        type: 'code_reference',
        content: 'return 1;\n',
        metadata: { filePath: 'a`b.ts', startLine: 3, endLine: 4, language: 'ts' },
      },
      '`` a`b.ts ``, lines 3 to 4\n\n```ts\nreturn 1;\n\n```',
    ],
    [
      'an edit is a diff',
      {
        type: 'file_edit',
        content: null,
        metadata: {
          filePath: 'src/a.ts',
          operation: 'edit',
          language: 'ts',
          diff: { oldString: 'a\nb\n', newString: 'a\n```\n', startLine: 7, endLine: 8 },
        },
      },
      '**File: edit** `src/a.ts`\n\n````diff\n@@ -7,2 +7,2 @@\n-a\n-b\n+a\n+```\n````',
    ],
    [
      'a new file is shown whole',
      {
        type: 'file_edit',
        content: 'let a;\n',
        metadata: { filePath: 'a.ts', operation: 'create', language: 'ts', diff: null },
      },
      '**File: create** `a.ts`\n\n```ts\nlet a;\n```',
    ],
    [
      'an edit that was not applied says so',
      {
        type: 'file_edit',
        content: null,
        metadata: { filePath: 'a', operation: 'delete', result: { status: 'error', data: 'No.' } },
      },
      '**File: delete** `a`\n\n> Not applied: No.',
    ],
    [
      'a call is folded away, and its name cannot be markup',
      {
        type: 'tool_call',
        content: null,
        metadata: {
          toolName: '<b>grep',
          toolCallId: 'x',
          arguments: { pattern: 'a' },
          result: { status: 'error', data: 'none ``` found' },
          duration_ms: 3,
        },
      },
      '<details>\n<summary>&lt;b&gt;grep (failed)</summary>\n\n```json\n{\n  "pattern": "a"\n}\n```\n\n````\nnone ``` found\n````\n\n</details>',
    ],
    [
      'a command has its output and how it ended',
      {
        type: 'terminal_command',
        content: null,
        metadata: {
          command: 'npm test',
          workingDirectory: 'app',
          exitCode: 1,
          output: 'failed\n',
          duration_ms: 5,
          permissions: [],
          result: { status: 'error', data: 'Ended by a signal.' },
        },
      },
      '**Command** in `app`\n\n```sh\nnpm test\n```\n\n```\nfailed\n```\n\nExit code 1.\n\n> Not run to its end: Ended by a signal.',
    ],
    [
      'a command has what it left behind',
      {
        type: 'terminal_command',
        content: null,
        metadata: {
          command: 'x',
          exitCode: 0,
          output: '',
          newlyProtected: [{ name: '.git', quarantined: false, what: [] }],
        },
      },
      '**Command**\n\n```sh\nx\n```\n\nExit code 0.\n\n- .git is new; nothing in it starts programs.',
    ],
    [
      'a plan has its todos',
      {
        type: 'plan',
        content: '## Steps\n\nDo it.\n',
        metadata: {
          title: 'Fix *it*',
          overview: 'In two steps.',
          format: 'markdown',
          todos: [
            { id: 'a', content: 'First', status: 'completed', dependencies: [] },
            { id: 'b', content: 'Then', status: 'pending', dependencies: ['a'] },
          ],
        },
      },
      '**Plan: Fix \\*it\\***\n\nIn two steps.\n\n## Steps\n\nDo it.\n\n- [x] First (`a`)\n- [ ] Then (`b`, after `a`)',
    ],
    [
      'todos that changed',
      {
        type: 'todo_update',
        content: null,
        metadata: {
          todos: [
            { id: 'a', status: 'completed' },
            { id: 'b', status: 'in_progress', content: 'Then' },
            { id: 'c', status: 'cancelled' },
          ],
        },
      },
      '**Todos**\n\n- [x] `a`\n- [ ] Then (in progress)\n- [ ] `c` (cancelled)',
    ],
    [
      'questions with what was answered, and one that was passed over',
      {
        type: 'clarification',
        content: 'Before I begin:',
        metadata: {
          questions: [
            {
              id: 'q1',
              text: 'Which?',
              options: [
                { id: 'a', label: 'This' },
                { id: 'b', label: 'That' },
              ],
            },
            { id: 'q2', text: 'And?', options: [{ id: 'a', label: 'Yes' }] },
          ],
          answers: [{ questionId: 'q1', optionIds: ['b'], text: 'but\nsoon' }],
        },
      },
      'Before I begin:\n\n**Question:** Which?\n\n- [ ] This\n- [x] That\n\n> but\n> soon\n\n**Question:** And?\n\n- [ ] Yes',
    ],
    [
      'an error',
      { type: 'error', content: 'It <b>failed</b>.', metadata: { errorCode: 'UPSTREAM_ERROR' } },
      '> **Error** `UPSTREAM_ERROR`: It \\<b\\>failed\\</b\\>.',
    ],
    [
      'an error has its details',
      {
        type: 'error',
        content: 'There is no such file.',
        metadata: { errorCode: 'FILE_NOT_FOUND', source: 'read_file', details: 'a: *none*' },
      },
      '> **Error** `FILE_NOT_FOUND`: There is no such file.\n\n```\na: *none*\n```',
    ],
    [
      'a command can run on',
      {
        type: 'terminal_command',
        content: null,
        metadata: { command: 'serve', output: '', duration_ms: 3, permissions: [] },
      },
      '**Command**\n\n```sh\nserve\n```\n\nRuns on in the background.',
    ],
    [
      'reasoning is folded away, and what it leaves open ends with it',
      { type: 'reasoning', content: 'Hm.\n```\n</details>', metadata: { format: 'plain' } },
      '<details>\n<summary>Reasoning</summary>\n\n> Hm.\n> ```\n> </details>\n\n</details>',
    ],
    [
      'an error stays in its quote, whatever ends its lines',
      { type: 'error', content: 'a\r# b', metadata: { errorCode: 'X' } },
      '> **Error** `X`: a \\# b',
    ],
  ])('%s', (_, document, markdown) => {
    expect(renderDocument(documentOf(document))).toBe(markdown);
  });

  it.each(documentTypes)('%s can be unfinished', (type) => {
    expect(renderDocument(documentOf({ type, content: null, metadata: {} }))).toBeTypeOf('string');
    const odd = { result: 7, todos: 'x', questions: null, diff: [] };
    expect(renderDocument(documentOf({ type, content: '', metadata: odd }))).toBeTypeOf('string');
  });
});

it('a conversation is its messages and answers, in order, with when and where from', async () => {
  const conversation: Exported = {
    id: CONVERSATION,
    title: 'About [links]',
    archived: false,
    created: CREATED,
    bridgeId: null,
    messages: [
      { responseId: RESPONSE, content: '# Hello\r\n\rthere', created: CREATED, device: 'my phone' },
      { responseId: RESPONSE.replace(/1$/, '2'), content: 'Look', created: CREATED, imageCount: 2 },
    ],
    responses: [
      { ...responseOf('cancelled'), documents: [documentOf({ type: 'text', content: 'Hi.' })] },
    ],
  };
  const [asked, waiting] = conversation.messages.map((message) => [message]);
  const inParts = [
    { ...conversation, messages: asked ?? [] },
    { ...conversation, messages: waiting ?? [], responses: [] },
  ];
  expect(await pageOf(...inParts)).toBe(await pageOf(conversation));
  expect(await pageOf(conversation)).toBe(
    `# About \\[links\\]

Begun 2026-11-20 12:34 UTC.

## You (2026-11-20 12:34 UTC, from my phone)

> # Hello
>
> there

## Answer (2026-11-20 12:34 UTC, demo, agent mode)

Hi.

*Cancelled.*

## You (2026-11-20 12:34 UTC)

> Look

*With 2 images.*
`,
  );
});

it.each<[string, string]>([
  ['Fix the parser', `filename="Fix-the-parser.md"; filename*=UTF-8''Fix-the-parser.md`],
  ['../../etc/passwd', `filename="etc-passwd.md"; filename*=UTF-8''etc-passwd.md`],
  ['a"b\r\nSet-Cookie: x', `filename="a-b-Set-Cookie-x.md"; filename*=UTF-8''a-b-Set-Cookie-x.md`],
  ['Größe', `filename="Groe.md"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.md`],
  ['日本', `filename="conversation.md"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.md`],
  ['🎉', `filename="conversation.md"; filename*=UTF-8''conversation.md`],
])('a file is named after the title %j, safely', (title, names) => {
  expect(attachmentNamed(title, 'md')).toBe(`attachment; ${names}`);
});

type Exported = ConversationExport['conversation'];

async function pageOf(...views: Exported[]): Promise<string> {
  let page = '';
  for await (const part of markdownOf(inTurn(views))) page += part;
  return page;
}

async function* inTurn(views: readonly Exported[]): AsyncGenerator<Exported> {
  yield* views;
}

function documentOf(more: Partial<Document>): Document {
  return { id: 'doc_001', type: 'text', sequence: 1, content: null, metadata: {}, ...more };
}

function responseOf(status: ChatResponse['status']): ChatResponse {
  return {
    id: RESPONSE,
    conversationId: CONVERSATION,
    model: 'demo',
    mode: 'agent',
    created: CREATED,
    status,
    documents: [],
    usage: null,
    metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
  };
}
