import { visibleWidth } from '@earendil-works/pi-tui';
import { expect, it } from 'vitest';
import { coloured } from '../../../cli/terminal/paint.ts';
import type { Document } from '../../../client/index.ts';
import { documentIdOf } from '../../../shared/ids.ts';
import { documentTypes } from '../../../shared/wire/document-types.ts';
import { eachOf, fewOf } from '../../depth.ts';
import {
  begunEventsOf,
  doneWith,
  endOf,
  openTranscript,
  RESPONSE,
  type ShownTranscript,
  type WholeDocument,
} from './shown-transcript.ts';

const WIDTHS = [1, 20, 40, 80, 200].filter((_, at) => at % eachOf(1, 2) === 0);

/** What a model, a tool, a command or a file may send: each is a danger of its own. */
const FRAGMENTS = [
  ...['\u001b[2J', '\u001b]0;title\u0007', '\u001b[31m', '\u001b[1;1H', '\u001b_Gi=1;\u001b\\'],
  ...[
    '\u001b]8;;http://a.test\u001b\\',
    '\u001b',
    '\u009b2J',
    '\u0000',
    '\u0007',
    '\b\b',
    '\u007f',
  ],
  ...['\r', '\r\n', '\n', '\n\n', '\t', '\u2028', '\u202e', '\u2066', '\u200b', '\u00ad', '\ue000'],
  ...[
    '\ue001',
    '漢字かな',
    '한국어',
    '👩‍👩‍👧',
    '🇩🇪',
    'e\u0301',
    `a${'\u0300'.repeat(40)}`,
    'ﷺ',
    'ำ',
    '\ud800',
  ],
  ...[
    'word',
    ' ',
    '    ',
    '  - ',
    '1. ',
    '> ',
    '# ',
    '| a | b |\n|---|---|\n| c |',
    '```',
    '```ts\n',
  ],
  ...[
    '**',
    '`',
    '$',
    '$$',
    '\\(',
    '\\[',
    '<!--',
    '<b>',
    '&#27;',
    '[a](',
    '![',
    '](x)',
    '[1]: http://b',
  ],
  ...['/* ', '"', "'''", '<script>', '{', '}', '-'.repeat(30), 'x'.repeat(300)],
];

it.each(Array.from({ length: fewOf(10, 1) }, (_, seed) => seed + 1))(
  'keeps every line within the screen, and every control of it to itself (seed %i)',
  async (seed) => {
    const random = seeded(seed);
    const text = () => hostileText(random, 40);
    for (const type of [...documentTypes, text() as 'text']) {
      const shown = await openTranscript(coloured);
      shown.show(
        {
          type: 'message',
          message: {
            responseId: RESPONSE,
            content: text(),
            created: '',
            device: text(),
            steers: true,
          },
        },
        {
          type: 'attached',
          responseId: RESPONSE,
          attachments: [{ type: 'none', name: text(), reason: text() }],
        },
        ...begunEventsOf({ type, content: text(), metadata: hostileMetadata(text) }, 1),
      );
      shown.transcript.say(text());
      checkAll(shown, `${type}, begun`);
      shown.show({ type: 'tool_output', documentId: documentIdOf(1), delta: text() });
      shown.show(endOf(1, hostileMetadata(text)), doneWith('error'));
      checkAll(shown, `${type}, ended`);
    }
  },
);

const LONG: readonly (readonly [string, (line: string) => WholeDocument])[] = [
  ['a text', (content) => ({ type: 'text', content })],
  ['code', (content) => ({ type: 'code_block', content, metadata: { language: 'ts' } })],
  ['a command', (command) => ({ type: 'terminal_command', metadata: { command } })],
  ['an output', (output) => ({ type: 'terminal_command', metadata: { command: 'a', output } })],
  ['an argument', (line) => ({ type: 'tool_call', metadata: { arguments: { line } } })],
  [
    'a line of a diff',
    (newString) => ({
      type: 'file_edit',
      metadata: { hunks: [{ oldString: 'a', newString, startLine: 1, endLine: 1 }] },
    }),
  ],
  ['an error', (details) => ({ type: 'error', content: 'a', metadata: { details } })],
];

it.each(LONG)('takes %s of 100,000 characters in one line', async (_, document) => {
  const pieces = ['x', '漢 ', 'e\u0301', '\u001b[31mx', '| ', '> ', '1. ', '\t', '{"'];
  for (const piece of pieces.slice(0, fewOf(pieces.length, 2))) {
    const shown = await openTranscript(coloured);
    shown.show(...begunEventsOf(document(piece.repeat(100_000 / piece.length)), 1));
    checkLines(shown, 40, piece);
  }
});

function hostileText(random: () => number, most: number): string {
  const count = Math.floor(random() * most);
  const pick = () => FRAGMENTS[Math.floor(random() * FRAGMENTS.length)] ?? '';
  return Array.from({ length: count }, pick).join('');
}

/** The fields of all types of documents at once: each type looks for its own. */
function hostileMetadata(text: () => string): Document['metadata'] {
  const result = { status: text().length % 2 === 0 ? 'error' : 'success', data: text() };
  return {
    language: text(),
    filePath: text(),
    newPath: text(),
    operation: text(),
    result,
    startLine: 9,
    endLine: 12,
    command: text(),
    workingDirectory: text(),
    output: text(),
    exitCode: 1,
    duration_ms: 1,
    process_id: text(),
    toolName: text(),
    arguments: { [text()]: text(), list: [text()] },
    hunks: [
      { oldString: text(), newString: text(), startLine: 1, endLine: 2 },
      { oldString: text(), newString: text(), startLine: 100_000, endLine: 100_001 },
    ],
    linter_errors: [{ path: text(), line: 1, column: 1, message: text(), source: text() }],
    checked_by: text(),
    not_checked: text(),
    formatted_by: text(),
    not_formatted: text(),
    newlyProtected: [{ name: text(), quarantined: true, what: [text()], failure: text() }],
    undo: { digest: '', files: [{ path: text(), action: 'keep', reason: text() }] },
    subagent: {
      type: text(),
      model: text(),
      status: 'streaming',
      activity: text(),
      turnCount: 1,
      toolCallCount: 1,
    },
    title: text(),
    overview: text(),
    format: 'markdown',
    todos: [{ id: text(), content: text(), status: 'pending', dependencies: [text()] }],
    questions: [{ id: 'q', text: text(), options: [{ id: 'o', label: text() }] }],
    answers: [{ questionId: 'q', optionIds: ['o'], text: text() }],
    errorCode: text(),
    details: text(),
    answered: { decision: 'once', by: text() },
  };
}

function checkAll(shown: ShownTranscript, where: string): void {
  for (const isExpanded of [false, true]) {
    shown.look.isExpanded = isExpanded;
    shown.transcript.invalidate();
    for (const width of WIDTHS) checkLines(shown, width, `${where}, ${width} columns`);
  }
}

function checkLines({ transcript }: ShownTranscript, width: number, where: string): void {
  const lines = transcript.render(width);
  const tooWide = lines.filter((line) => visibleWidth(line) > width);
  expect(tooWide, where).toEqual([]);
  const controlling = lines.filter((line) => CONTROLS.test(line.replaceAll(COLOURS, '')));
  expect(controlling, where).toEqual([]);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
const COLOURS = /\u001b\[[\d;]*m/g;
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
