import { describe, expect, it } from 'vitest';
import { ACP_LIMITS } from '../../../cli/acp/limits.ts';
import { proposedCall, shownCall } from '../../../cli/acp/tool-calls.ts';
import type { Document, Proposal } from '../../../client/index.ts';

const FOLDER = '/work';

function document(type: Document['type'], metadata: Document['metadata'], content = ''): Document {
  return { id: 'doc_001', type, sequence: 1, content, metadata };
}

const diff = { oldString: 'a', newString: 'b', startLine: 3, endLine: 3 };
const failed = { status: 'error', data: 'It is not there.' };

describe('a document as a tool call', () => {
  it.each<[string, Document, object | undefined]>([
    ['an edit whose path is not known', document('file_edit', { operation: 'edit' }), undefined],
    [
      'an edit that waits',
      document('file_edit', { filePath: 'a.ts', operation: 'edit', approval: {} }),
      { title: 'edit a.ts', kind: 'edit', status: 'pending', content: [] },
    ],
    [
      'an edit that was made',
      document('file_edit', { filePath: 'a.ts', operation: 'edit', diff }),
      {
        status: 'completed',
        content: [{ type: 'diff', path: '/work/a.ts', oldText: 'a', newText: 'b' }],
        locations: [{ path: '/work/a.ts' }],
      },
    ],
    [
      'an edit that only adds lines',
      document('file_edit', {
        filePath: 'a.ts',
        operation: 'edit',
        diff: { ...diff, oldString: '' },
      }),
      { content: [{ type: 'diff', path: '/work/a.ts', oldText: '', newText: 'b' }] },
    ],
    [
      'a new file',
      document('file_edit', { filePath: 'a.ts', operation: 'create', diff: null }, 'new\n'),
      { content: [{ type: 'diff', path: '/work/a.ts', oldText: null, newText: 'new\n' }] },
    ],
    [
      'an edit that failed',
      document('file_edit', { filePath: 'a.ts', operation: 'delete', result: failed }),
      { kind: 'delete', status: 'failed', content: [text('```\nIt is not there.\n```')] },
    ],
    [
      'a rename',
      document('file_edit', { filePath: 'a', newPath: 'b', operation: 'rename', diff: null }),
      { title: 'rename a → b', kind: 'move', status: 'completed' },
    ],
    [
      'a command that runs',
      document('terminal_command', { command: 'make', output: 'one\n\u001b[31mtwo\u001b[0m\n' }),
      { title: 'make', status: 'in_progress', content: [text('```\none\ntwo\n```')] },
    ],
    [
      'a command that failed',
      document('terminal_command', { command: 'make', output: '', exitCode: 2, duration_ms: 1 }),
      { status: 'failed', content: [text('```\n\nexit code 2\n```')] },
    ],
    [
      'a call',
      document('tool_call', {
        toolName: 'grep',
        arguments: { pattern: 'x' },
        result: { status: 'success', data: 'a.ts:1: x' },
      }),
      {
        title: 'grep x',
        kind: 'search',
        status: 'completed',
        content: [text('```\na.ts:1: x\n```')],
        rawInput: { pattern: 'x' },
      },
    ],
    [
      'a call of a server',
      document('tool_call', { toolName: 'mcp_a_constructor', arguments: {} }),
      { kind: 'other', status: 'in_progress' },
    ],
    ['text', document('text', {}), undefined],
  ])('%s', (_, shown, expected) => {
    const call = shownCall(shown, FOLDER);
    if (expected) expect(call).toMatchObject(expected);
    else expect(call).toBeUndefined();
  });

  it('shows the end of a long output', () => {
    const output = `first\n${'x'.repeat(ACP_LIMITS.shownChars)}last`;
    const call = shownCall(document('terminal_command', { command: 'a', output }), FOLDER);
    expect(JSON.stringify(call?.content)).toMatch(/…\\nx+last/);
    expect(JSON.stringify(call?.content)).not.toContain('first');
  });
});

describe('what a person signs', () => {
  const edit: Proposal = {
    kind: 'edit',
    tool: 'write',
    path: 'a.ts',
    operation: 'edit',
    diff: [diff],
    beforeHash: 'x',
    afterHash: 'y',
  };

  it.each<[string, Proposal, RegExp]>([
    ['a plain edit as a diff', edit, /"type":"diff".*"newText":"b"/],
    ['a cut edit in words', { ...edit, cut: { chars: 7 } }, /7 more characters.*sha256After/],
    [
      'an edit with a hidden character in words that show it',
      { ...edit, diff: [{ ...diff, newString: 'b\u202e' }] },
      /\\\\u\{202e\}/,
    ],
    ['an edit without effect', { ...edit, diff: [], afterHash: 'x' }, /has this content already/],
    [
      'a command with all that it may',
      {
        kind: 'command',
        tool: 'run_terminal_cmd',
        command: 'make\nx',
        folder: '.',
        permissions: ['git_write'],
        background: false,
        timeLimitMs: null,
        confinement: 'none',
      },
      /make.*git_write.*sandbox: none/,
    ],
    [
      'a long call without a cut',
      { kind: 'call', tool: 'x', arguments: { text: `${'y'.repeat(50_000)}END` } },
      /END/,
    ],
  ])('%s', (_, proposal, shown) => {
    expect(JSON.stringify(proposedCall(proposal, FOLDER).content)).toMatch(shown);
  });
});

function text(words: string) {
  return { type: 'content', content: { type: 'text', text: words } };
}
