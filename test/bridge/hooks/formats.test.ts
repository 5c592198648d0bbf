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
const COMMAND = { command: './check.sh' };
const [PRE, SHELL] = ['PreToolUse', 'beforeShellExecution'] as const;
const pre = (handler: object, matcher?: string) =>
  group(PRE, { type: 'command', ...COMMAND, ...handler }, matcher);
const { defaultMs, maxMs } = HOOK_LIMITS;

it.each<[FormatName, string, string, Partial<Hook>]>([
  ['claude', PRE, pre({ timeout: 5 }, 'Edit|Write'), { matcher: 'Edit|Write', timeoutMs: 5_000 }],
  ['claude', PRE, pre({}, '*'), { timeoutMs: defaultMs }],
  ['codex', PRE, pre({ timeout: 600 }, '^Bash$'), { matcher: '^Bash$', timeoutMs: maxMs }],
  ['cursor', 'preToolUse', line('preToolUse', { ...COMMAND, matcher: 'a' }), { matcher: 'a' }],
  ['cursor', SHELL, line(SHELL, { ...COMMAND, failClosed: true }), { failsClosed: true }],
])('reads a hook of %s for %s from %s', (format, event, text, hook) => {
  const { hooks, idle } = FORMATS[format].read('a.json', text);
  expect(hooks).toMatchObject([{ format, event, source: 'a.json', ...COMMAND, ...hook }]);
  expect(hooks[0]?.matcher).toBe(hook.matcher);
  expect(idle).toEqual([]);
});

it.each<[string, FormatName, string, string]>([
  ['another event', 'claude', group('Stop', COMMAND), 'only hooks before a call (PreToolUse) run'],
  ['a prompt', 'claude', pre({ type: 'prompt' }), 'its type prompt is not run'],
  [
    'the background',
    'codex',
    pre({ async: true }),
    'it runs in the background, so it decides nothing',
  ],
  ['no command', 'claude', pre({ command: undefined }), 'its command is none, or too long'],
  ['another event', 'cursor', line('afterFileEdit', COMMAND), 'only hooks before a call run'],
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
  const off = JSON.stringify({ ...JSON.parse(pre({})), disableAllHooks: true });
  for (const text of [off, '{"model": "x"}']) {
    expect(FORMATS.claude.read('a.json', text)).toEqual({ hooks: [], idle: [] });
  }
  const none = ['', '[]', '{"hooks": []}', '{"hooks": {"PreToolUse": [{}]}}', 'x'.repeat(99)];
  for (const text of none) {
    expect(() => FORMATS.claude.read('a.json', text)).toThrow();
  }
});

const OTHER_INPUT = 'it wants another input, and calls run as the model made them';
/** The decision of Claude Code's and Codex's form. */
const specific = (permissionDecision: string, more: object = {}) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: PRE, permissionDecision, ...more } });

it.each<[FormatName, string, string, string?]>([
  ['claude', specific('deny', { permissionDecisionReason: 'no\nway' }), 'deny', 'no way'],
  ['claude', specific('ask'), 'ask', 'it gives no reason'],
  ['claude', specific('defer'), 'ask'],
  ['claude', specific('allow'), 'none'],
  ['claude', specific('allow', { updatedInput: { command: 'true' } }), 'ask', OTHER_INPUT],
  ['claude', '{"decision":"block","reason":"old form"}', 'deny', 'old form'],
  ['claude', '{"decision":"approve"}', 'none'],
  ['claude', '{"continue":false,"stopReason":"stop"}', 'deny', 'stop'],
  ['claude', 'words for people', 'none'],
  ['claude', '', 'none'],
  ['claude', '{"broken', 'ask'],
  ['codex', specific('deny', { permissionDecisionReason: 'no' }), 'deny', 'no'],
  ['cursor', '{"permission":"deny","agent_message":"no"}', 'deny', 'no'],
  ['cursor', '{"permission":"ask","userMessage":"sure?"}', 'ask', 'sure?'],
  ['cursor', '{"permission":"allow"}', 'none'],
  ['cursor', '{"permission":"allow","updated_input":{}}', 'ask'],
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
const LS = called('run_terminal_cmd', { command: 'ls' });
const READ = called('read_file', { target_file: 'a' });
const WRITE = called('write', { path: 'a', contents: 'x\ny' });
const DELETE = called('delete_file', { target_file: 'a b' });
const EDIT = called('edit_file', { target_file: 'a', code_edit: 'x' });
const PIECE = { old_string: 'x', new_string: 'y' };
const replace = (more: object) => called('str_replace', { file_path: 'a', ...more });
const PIECES = replace({ edits: [PIECE] });
const FIND = called('mcp_docs_find', { q: 1 }, { server: 'docs', tool: 'find' });
const patch = (action: string, ...lines: readonly string[]) => ({
  command: `*** Begin Patch\n*** ${action} File: a\n${lines.join('\n')}\n*** End Patch`,
});
const UPDATED = patch('Update', '@@', '-x', '+y');

it.each<[FormatName, string, HookedCall, string, object]>([
  ['claude', PRE, LS, 'Bash', { tool_name: 'Bash', session_id: 'conv_1', cwd: '/w' }],
  ['claude', PRE, LS, 'Bash', { tool_input: { command: 'ls' } }],
  ['claude', PRE, WRITE, 'Write', { tool_input: { file_path: '/w/a', content: 'x\ny' } }],
  ['claude', PRE, replace(PIECE), 'Edit', { tool_input: { file_path: '/w/a', ...PIECE } }],
  ['claude', PRE, DELETE, 'Bash', { tool_input: { command: "rm 'a b'" } }],
  ['claude', PRE, FIND, 'mcp__docs__find', { tool_input: { q: 1 } }],
  ['codex', PRE, LS, 'Bash', { tool_name: 'Bash', turn_id: 'call_1' }],
  ['codex', PRE, WRITE, 'apply_patch Edit Write', { tool_input: patch('Add', '+x', '+y') }],
  ['codex', PRE, PIECES, 'apply_patch Edit Write', { tool_input: UPDATED }],
  ['cursor', SHELL, LS, 'ls', { command: 'ls', cwd: '/w', workspace_roots: ['/w'] }],
  ['cursor', SHELL, LS, 'ls', { hook_event_name: SHELL }],
  ['cursor', 'beforeMCPExecution', FIND, 'find MCP:find', { tool_input: '{"q":1}' }],
  ['cursor', 'beforeMCPExecution', FIND, 'find MCP:find', { tool_name: 'find' }],
  ['cursor', 'beforeReadFile', READ, '/w/a', { file_path: '/w/a' }],
  ['cursor', 'preToolUse', EDIT, 'Write', { tool_name: 'Write' }],
])('%s reads a call for %s: %j', (name, event, call, names, input) => {
  const shown = FORMATS[name].show(event, call);
  expect(shown?.names).toEqual(names.split(' '));
  expect(shown?.input).toMatchObject(input);
});

it.each<[FormatName, string, HookedCall]>([
  ['codex', PRE, READ],
  ['cursor', SHELL, READ],
  ['cursor', 'beforeMCPExecution', WRITE],
  ['cursor', 'beforeReadFile', LS],
])('%s has no hook of %s for a call of another kind', (name, event, call) => {
  expect(FORMATS[name].show(event, call)).toBeUndefined();
});
