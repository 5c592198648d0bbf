/** The formats of hooks, from the documentation of the programs that have them. */
import { expect, it } from 'vitest';
import {
  answerOfExit,
  FORMATS,
  type FormatName,
  type Hook,
} from '../../../bridge/hooks/formats.ts';
import { HOOK_LIMITS } from '../../../bridge/hooks/limits.ts';
import type { HookedCall } from '../../../bridge/hooks/shown-call.ts';

const group = (event: string, handler: object, matcher?: string) =>
  JSON.stringify({ hooks: { [event]: [{ matcher, hooks: [handler] }] } });
const line = (event: string, handler: object) =>
  JSON.stringify({ version: 1, hooks: { [event]: [handler] } });
const RUN = { type: 'command', command: './check.sh' };

it.each<[string, FormatName, string, Partial<Hook>]>([
  [
    'Claude Code',
    'claude',
    group('PreToolUse', { ...RUN, timeout: 5 }, 'Edit|Write'),
    { event: 'PreToolUse', matcher: 'Edit|Write', timeoutMs: 5_000 },
  ],
  [
    'Claude Code without a matcher',
    'claude',
    group('PreToolUse', RUN, '*'),
    { timeoutMs: HOOK_LIMITS.defaultMs },
  ],
  [
    'Codex',
    'codex',
    group('PreToolUse', { ...RUN, timeout: 600 }, '^Bash$'),
    { matcher: '^Bash$', timeoutMs: HOOK_LIMITS.maxMs },
  ],
  [
    'Cursor',
    'cursor',
    line('beforeShellExecution', { command: './check.sh', failClosed: true }),
    { event: 'beforeShellExecution', failsClosed: true },
  ],
  [
    'Cursor with a matcher',
    'cursor',
    line('preToolUse', { command: './check.sh', matcher: 'Shell' }),
    { event: 'preToolUse', matcher: 'Shell' },
  ],
])('reads a hook of %s', (_, name, text, hook) => {
  const { hooks, idle } = FORMATS[name].read('a.json', text);
  expect(hooks).toMatchObject([{ format: name, source: 'a.json', command: './check.sh', ...hook }]);
  expect(hooks[0]?.matcher).toBe(hook.matcher);
  expect(idle).toEqual([]);
});

it.each<[string, FormatName, string, string]>([
  ['another event', 'claude', group('Stop', RUN), 'only hooks before a call (PreToolUse) run'],
  [
    'a prompt',
    'claude',
    group('PreToolUse', { type: 'prompt', prompt: 'x' }),
    'its type prompt is not run',
  ],
  [
    'the background',
    'codex',
    group('PreToolUse', { ...RUN, async: true }),
    'it runs in the background, so it decides nothing',
  ],
  [
    'no command',
    'claude',
    group('PreToolUse', { type: 'command' }),
    'its command is none, or too long',
  ],
  [
    'another event',
    'cursor',
    line('afterFileEdit', { command: 'x' }),
    'only hooks before a call run',
  ],
])('says why a hook does not run: %s', (_, name, text, reason) => {
  expect(FORMATS[name].read('a.json', text)).toMatchObject({ hooks: [], idle: [{ reason }] });
});

it('hooks of TOML are said to be left out', () => {
  const { read } = FORMATS.codex;
  expect(read('config.toml', 'model = "x"\n')).toEqual({ hooks: [], idle: [] });
  for (const text of ['[[hooks.PreToolUse]]\n', 'a = 1\n [hooks]\n']) {
    expect(read('config.toml', text).idle).toMatchObject([{ source: 'config.toml' }]);
  }
});

it('disableAllHooks and a file without hooks have none; another form throws', () => {
  const off = JSON.stringify({ ...JSON.parse(group('PreToolUse', RUN)), disableAllHooks: true });
  for (const text of [off, '{"model": "x"}']) {
    expect(FORMATS.claude.read('a.json', text)).toEqual({ hooks: [], idle: [] });
  }
  for (const text of [
    '',
    '[]',
    '{"hooks": []}',
    '{"hooks": {"PreToolUse": [{}]}}',
    'x'.repeat(99),
  ]) {
    expect(() => FORMATS.claude.read('a.json', text)).toThrow();
  }
});

const specific = (more: object) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } });

it.each<[FormatName, string, string, string?]>([
  [
    'claude',
    specific({ permissionDecision: 'deny', permissionDecisionReason: 'no\nway' }),
    'deny',
    'no way',
  ],
  ['claude', specific({ permissionDecision: 'ask' }), 'ask', 'it gives no reason'],
  ['claude', specific({ permissionDecision: 'defer' }), 'ask'],
  ['claude', specific({ permissionDecision: 'allow' }), 'none'],
  [
    'claude',
    specific({ permissionDecision: 'allow', updatedInput: { command: 'true' } }),
    'ask',
    'it wants another input, and calls run as the model made them',
  ],
  ['claude', JSON.stringify({ decision: 'block', reason: 'old form' }), 'deny', 'old form'],
  ['claude', JSON.stringify({ decision: 'approve' }), 'none'],
  ['claude', JSON.stringify({ continue: false, stopReason: 'stop' }), 'deny', 'stop'],
  ['claude', 'words for people', 'none'],
  ['claude', '', 'none'],
  ['claude', '{"broken', 'ask'],
  ['codex', specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' }), 'deny', 'no'],
  ['cursor', JSON.stringify({ permission: 'deny', agent_message: 'no' }), 'deny', 'no'],
  ['cursor', JSON.stringify({ permission: 'ask', userMessage: 'sure?' }), 'ask', 'sure?'],
  ['cursor', JSON.stringify({ permission: 'allow' }), 'none'],
  ['cursor', JSON.stringify({ permission: 'allow', updated_input: {} }), 'ask'],
  ['cursor', '', 'none'],
  ['cursor', 'no JSON', 'deny'],
])('%s answers %s: %s', (name, output, decision, reason) => {
  expect(FORMATS[name].answer(output)).toMatchObject({ decision, ...(reason && { reason }) });
});

it.each<[number | null, boolean, string]>([
  [2, false, 'deny'],
  [1, false, 'ask'],
  [127, false, 'ask'],
  [null, false, 'ask'],
  [1, true, 'deny'],
])('an exit with %s is no yes', (code, failsClosed, decision) => {
  const hook = { failsClosed } as Hook;
  expect(answerOfExit(code, 'why', hook).decision).toBe(decision);
});

const CALL = { root: '/w', callId: 'call_1', conversationId: 'conv_1' };
const called = (tool: string, args: HookedCall['args'], origin?: HookedCall['origin']) => ({
  ...CALL,
  tool,
  args,
  origin,
});

it.each<[string, string, HookedCall, readonly string[], object]>([
  [
    'claude',
    'PreToolUse',
    called('run_terminal_cmd', { command: 'ls' }),
    ['Bash'],
    { tool_name: 'Bash', tool_input: { command: 'ls' }, session_id: 'conv_1', cwd: '/w' },
  ],
  [
    'claude',
    'PreToolUse',
    called('write', { path: 'a', contents: 'x' }),
    ['Write'],
    { tool_input: { file_path: '/w/a', content: 'x' } },
  ],
  [
    'claude',
    'PreToolUse',
    called('str_replace', { file_path: 'a', old_string: 'x', new_string: 'y' }),
    ['Edit'],
    { tool_input: { file_path: '/w/a', old_string: 'x', new_string: 'y' } },
  ],
  [
    'claude',
    'PreToolUse',
    called('delete_file', { target_file: 'a b' }),
    ['Bash'],
    { tool_input: { command: "rm 'a b'" } },
  ],
  [
    'claude',
    'PreToolUse',
    called('mcp_docs_find', { q: 1 }, { server: 'docs', tool: 'find' }),
    ['mcp__docs__find'],
    { tool_input: { q: 1 } },
  ],
  [
    'codex',
    'PreToolUse',
    called('run_terminal_cmd', { command: 'ls' }),
    ['Bash'],
    { tool_name: 'Bash', turn_id: 'call_1' },
  ],
  [
    'codex',
    'PreToolUse',
    called('write', { path: 'a', contents: 'x\ny' }),
    ['apply_patch', 'Edit', 'Write'],
    { tool_input: { command: '*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch' } },
  ],
  [
    'codex',
    'PreToolUse',
    called('str_replace', { file_path: 'a', edits: [{ old_string: 'x', new_string: 'y' }] }),
    ['apply_patch', 'Edit', 'Write'],
    { tool_input: { command: '*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch' } },
  ],
  [
    'cursor',
    'beforeShellExecution',
    called('run_terminal_cmd', { command: 'ls' }),
    ['ls'],
    { command: 'ls', cwd: '/w', hook_event_name: 'beforeShellExecution', workspace_roots: ['/w'] },
  ],
  [
    'cursor',
    'beforeMCPExecution',
    called('mcp_docs_find', { q: 1 }, { server: 'docs', tool: 'find' }),
    ['find', 'MCP:find'],
    { tool_name: 'find', tool_input: '{"q":1}' },
  ],
  [
    'cursor',
    'beforeReadFile',
    called('read_file', { target_file: 'a' }),
    ['/w/a'],
    { file_path: '/w/a' },
  ],
  [
    'cursor',
    'preToolUse',
    called('edit_file', { target_file: 'a', code_edit: 'x' }),
    ['Write'],
    { tool_name: 'Write' },
  ],
])('%s reads a call for %s', (name, event, call, names, input) => {
  const shown = FORMATS[name as FormatName].show(event, call);
  expect(shown?.names).toEqual(names);
  expect(shown?.input).toMatchObject(input);
});

it.each<[FormatName, string, HookedCall]>([
  ['codex', 'PreToolUse', called('read_file', { target_file: 'a' })],
  ['cursor', 'beforeShellExecution', called('read_file', { target_file: 'a' })],
  ['cursor', 'beforeMCPExecution', called('write', { path: 'a', contents: '' })],
  ['cursor', 'beforeReadFile', called('run_terminal_cmd', { command: 'ls' })],
])('%s has no hook of %s for a call of another kind', (name, event, call) => {
  expect(FORMATS[name].show(event, call)).toBeUndefined();
});
