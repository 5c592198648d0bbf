import { expect, it } from 'vitest';
import {
  describeProposal,
  narrowPattern,
  parseAnswer,
  yesWords,
} from '../../../shared/shown/proposal.ts';
import { TOOLS } from '../../../shared/tools/catalogue.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';

it('an argument cannot look like another one', () => {
  const args = { command: 'a\n  permissions: []', 'is: b\nc': ['x\u001b'], 'two words': true };
  expect(describeProposal({ kind: 'call', tool: 'run', arguments: args })).toEqual([
    '  command: a',
    '      permissions: []',
    '  "is: b\\nc": ["x\\u001b"]',
    '  "two words": true',
  ]);
});

const EDIT = {
  kind: 'edit',
  tool: 'str_replace',
  path: 'a\u202e.txt',
  operation: 'edit',
  beforeHash: 'b',
  afterHash: 'c',
  diff: [
    { oldString: 'x', newString: 'y\r', startLine: 2, endLine: 2 },
    { oldString: '', newString: '\n  lines 9 to 9:', startLine: 7, endLine: 7 },
  ],
} as const satisfies Proposal;

it.each<[string, Proposal, string[]]>([
  [
    'an edit shows the lines that go and those that come',
    EDIT,
    [
      ...['  edit: "a\\u202e.txt"', '  line 2:', '    - x', '    + y\\u{d}'],
      ...['  line 7:', '    - ', '    + ', '    +   lines 9 to 9:'],
    ],
  ],
  [
    'a new file shows its lines',
    {
      ...EDIT,
      path: 'b',
      operation: 'create',
      beforeHash: null,
      diff: [{ oldString: '', newString: 'x\ny', startLine: 1, endLine: 2 }],
    },
    ['  create: b', '    + x', '    + y'],
  ],
  [
    'a change that is cut says so, and names what it comes to',
    { ...EDIT, path: 'b', diff: [], cut: { chars: 7 } },
    [
      ...['  edit: b', '  NOT SHOWN: 7 more characters of this change.'],
      ...['  sha256Before: b', '  sha256After: c'],
    ],
  ],
  [
    'an edit that changes nothing says so',
    { ...EDIT, path: 'b', diff: [], afterHash: 'b' },
    ['  edit: b', '  The file has this content already.'],
  ],
  [
    'a file that goes is named',
    { ...EDIT, path: 'b', diff: [], operation: 'delete', afterHash: null },
    ['  delete: b'],
  ],
  [
    'a command shows each host that it may reach',
    {
      kind: 'command',
      tool: 'run',
      command: 'a',
      folder: '.',
      background: false,
      permissions: ['git_write', 'network:a.test:8443', 'network:pypi.org'],
      timeLimitMs: null,
      confinement: 'bubblewrap',
    },
    [
      ...['  command: a', '  folder: .'],
      '  permissions: git_write, network: a.test:8443, package registries (pypi.org)',
      '  sandbox: bubblewrap',
    ],
  ],
  [
    'a command shows where and how it runs',
    {
      kind: 'command',
      tool: 'run',
      command: 'a\n  folder: b',
      folder: 'src',
      permissions: ['all', 'network'],
      background: false,
      timeLimitMs: 1_000,
      confinement: 'none',
    },
    [
      ...[
        '  command: a',
        '      folder: b',
        '  folder: src',
        '  permissions: all, network (the whole network of the machine)',
      ],
      ...['  timeLimit: 1000 ms', '  sandbox: none'],
    ],
  ],
  [
    'a command in the background says that nothing ends it',
    {
      kind: 'command',
      tool: 'run',
      command: 'a',
      folder: '.',
      permissions: [],
      background: true,
      timeLimitMs: null,
      confinement: 'bubblewrap',
    },
    [
      ...['  command: a', '  folder: .', '  permissions: none'],
      ...['  background: it goes on until it or the bridge ends', '  sandbox: bubblewrap'],
    ],
  ],
])('%s', (_, proposal, lines) => {
  expect(describeProposal(proposal)).toEqual(lines);
});

it.each([
  ['y', { decision: 'once' }],
  [' YES ', { decision: 'once' }],
  ['n', { decision: 'reject' }],
  ['no', { decision: 'reject' }],
  ['n, use pnpm', { decision: 'reject', message: 'use pnpm' }],
  ['no: too wide', { decision: 'reject', message: 'too wide' }],
  ['', null],
  ['yes please', null],
  ['nothing', null],
])('the typed answer %j is %j', (text, answer) => {
  for (const isOffered of [true, false]) {
    const choices = { canLast: isOffered, canBeAlways: isOffered };
    expect(parseAnswer(text, choices)).toEqual(answer);
  }
});

it.each([
  [['c', ' Conversation '], { canLast: true, canBeAlways: false }, 'conversation'],
  [['a', ' Always '], { canLast: true, canBeAlways: true }, 'always'],
  [['a', ' Always '], { canLast: true, canBeAlways: false }, null],
  [['a', 'c'], { canLast: false, canBeAlways: true }, null],
] as const)('takes %j where the question offers %j', (texts, choices, scope) => {
  const answer = scope && { decision: 'once', scope };
  for (const text of texts) expect(parseAnswer(text, choices)).toEqual(answer);
});

const COMMAND: Proposal = {
  kind: 'command',
  tool: 'run_terminal_cmd',
  command: 'cd a && rm *.b',
  folder: '.',
  permissions: ['network'],
  background: false,
  timeLimitMs: 1,
  confinement: 'bubblewrap',
};
const NEW_FILE: Proposal = {
  kind: 'edit',
  tool: 'write',
  path: 'a*',
  operation: 'create',
  diff: [],
  beforeHash: null,
  afterHash: null,
};
const PAGE: Proposal = { kind: 'call', tool: 'web_fetch', arguments: { site: 'a.test', url: '' } };

it('says what a yes that lasts covers', () => {
  expect(yesWords(COMMAND, { pattern: 'cd a\nrm [*].b', always: true })).toBe(
    'y runs this command, this once; c allows cd a, rm [*].b in this conversation; a allows it from now on, in the sandbox with at most network',
  );
  const open: Proposal = { ...COMMAND, confinement: 'none' };
  expect(yesWords(open, { pattern: 'cd a', always: false })).toBe(
    'y runs this command, this once; c allows cd a in this conversation, without a sandbox',
  );
});

it.each<[Proposal, string, boolean]>([
  [COMMAND, 'cd a\nrm [*].b', true],
  [COMMAND, 'cd a\nrm *.b', false],
  [COMMAND, 'cd a\nrm [*]*', false],
  [COMMAND, '*', false],
  [COMMAND, '?', false],
  [COMMAND, 'rm -rf', false],
  [NEW_FILE, 'a[*]', true],
  [NEW_FILE, 'a*', false],
  [NEW_FILE, 'a', false],
  [PAGE, '*://a.test/*', true],
  [PAGE, '*://*.test/*', false],
])('%j: the offered pattern %j is narrow: %s', (proposal, pattern, isNarrow) => {
  const offered = narrowPattern(proposal, { pattern, always: true });
  expect(offered).toBe(isNarrow ? pattern : undefined);
});

it('a yes to web_fetch is for the site', () => {
  expect(yesWords(PAGE)).toBe('y lets the agent read pages of a.test in this conversation');
});

it('a yes to a call names what its tool does, for every tool that changes something', () => {
  const verbs = { create: 'writes', edit: 'makes', delete: 'deletes', rename: 'renames' };
  for (const { name, document } of TOOLS) {
    const words = yesWords({ kind: 'call', tool: name, arguments: {} });
    if (document.type === 'terminal_command') expect(words).toContain('runs this command');
    if (document.type === 'file_edit') expect(words).toContain(verbs[document.operation]);
  }
});
