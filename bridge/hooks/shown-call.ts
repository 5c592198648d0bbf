/** A call as hooks of other programs know it: their names of tools and of arguments. Pure. */
import { isAbsolute, join } from 'node:path';
import { shellWord } from '../../machine/shell-word.ts';
import { activateSkill } from '../../shared/tools/activate-skill.ts';
import type { ToolName } from '../../shared/tools/catalogue.ts';
import { codebaseSearch } from '../../shared/tools/codebase-search.ts';
import { deleteFile } from '../../shared/tools/delete-file.ts';
import { editFile } from '../../shared/tools/edit-file.ts';
import { editNotebook } from '../../shared/tools/edit-notebook.ts';
import { globFileSearch } from '../../shared/tools/glob-file-search.ts';
import { grep } from '../../shared/tools/grep.ts';
import { listDir } from '../../shared/tools/list-dir.ts';
import { controlProcess, readProcess } from '../../shared/tools/process.ts';
import { readFile } from '../../shared/tools/read-file.ts';
import { readLints } from '../../shared/tools/read-lints.ts';
import { renameFile } from '../../shared/tools/rename-file.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import { webFetch } from '../../shared/tools/web-fetch.ts';
import { webSearch } from '../../shared/tools/web-search.ts';
import { write } from '../../shared/tools/write.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import { HOOK_LIMITS } from './limits.ts';

/** A call that hooks judge. */
export interface HookedCall {
  readonly tool: string;
  /** As the tool means them. */
  readonly args: Metadata;
  /** Only for an offered tool. */
  readonly origin?: { readonly server: string; readonly tool: string } | undefined;
  /** The folder of the call. */
  readonly root: string;
  readonly callId: string;
  readonly conversationId: string;
  readonly run?: string | undefined;
  readonly isPrivate?: true | undefined;
}

export interface ShownCall {
  /** What a matcher is compared with: the first, or any of the others. */
  readonly names: readonly string[];
  /** The hook's input. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** A tool by the name that another program has for it. */
interface NamedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export function claudeCall(call: HookedCall): ShownCall {
  const { name, input } = asClaude(call);
  return { names: [name], input: { ...commonOf(call), tool_name: name, tool_input: input } };
}

/** Codex has a shell, patches and servers. Calls that only read are nothing that it has hooks for. */
export function codexCall(call: HookedCall): ShownCall | undefined {
  const { name, input } = asClaude(call);
  const shown = (named: string, given: object, ...aliases: string[]) => ({
    names: [named, ...aliases],
    input: {
      ...commonOf(call),
      turn_id: call.run ?? call.callId,
      model: '',
      tool_name: named,
      tool_input: given,
    },
  });
  if (name === 'Bash' || call.origin !== undefined) return shown(name, input);
  const patch = patchOf(call);
  return patch === undefined
    ? undefined
    : shown('apply_patch', { command: patch }, 'Edit', 'Write');
}

/** The events of Cursor are about one kind of call each, and `preToolUse` about all. */
export function cursorCall(event: string, call: HookedCall): ShownCall | undefined {
  const { name, input } = asClaude(call);
  const { root, callId, conversationId, run = callId } = call;
  const common = {
    conversation_id: conversationId,
    generation_id: run,
    hook_event_name: event,
    model: '',
    cursor_version: '',
    user_email: null,
    transcript_path: null,
    workspace_roots: [root],
  };
  const command = String(Object(input).command ?? '');
  const path = String(Object(input).file_path ?? '');
  switch (event) {
    case 'beforeShellExecution':
      if (name !== 'Bash') return undefined;
      return { names: [command], input: { ...common, command, cwd: root, sandbox: true } };
    case 'beforeMCPExecution': {
      if (call.origin === undefined) return undefined;
      const { server, tool } = call.origin;
      const given = { tool_name: tool, tool_input: JSON.stringify(call.args), command: server };
      return { names: [tool, `MCP:${tool}`], input: { ...common, ...given } };
    }
    case 'beforeReadFile':
      if (name !== 'Read') return undefined;
      return { names: [path], input: { ...common, file_path: path, content: '', attachments: [] } };
    default: {
      const named = call.origin ? `MCP:${call.origin.tool}` : (CURSOR_NAMES[name] ?? name);
      const given = { tool_name: named, tool_input: input, tool_use_id: callId, cwd: root };
      return { names: [named], input: { ...common, ...given } };
    }
  }
}

const CURSOR_NAMES: Readonly<Record<string, string>> = { Bash: 'Shell', Edit: 'Write' };

function commonOf({ callId, conversationId, root }: HookedCall) {
  return {
    session_id: conversationId,
    transcript_path: null,
    cwd: root,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_use_id: callId,
  };
}

/** Claude Code has no tools that delete or move a file: it runs commands. */
function asClaude({ tool, args, origin, root }: HookedCall): NamedCall {
  if (origin) return { name: `mcp__${origin.server}__${origin.tool}`, input: args };
  const at = (path: unknown) => absolute(root, String(path ?? '.'));
  const made = CLAUDE[tool as ToolName<'bridge'>]?.(args, at);
  return made ? { name: made[0], input: bounded(made[1]) } : { name: tool, input: args };
}

type Absolute = (path: unknown) => string;
type Translation = (args: Metadata, at: Absolute) => [name: string, input: Metadata];

/**
 * Null for a tool that Claude Code has no equal of: hooks see it by its own name, and one for `Read` or another of these
 * names does not run. The same holds for Drawbridge's own calls, which have no row.
 */
const CLAUDE: Readonly<Record<ToolName<'bridge'>, Translation | null>> = {
  [runTerminalCmd.name]: ({ command, is_background }) => [
    'Bash',
    { command, ...(is_background === true && { run_in_background: true }) },
  ],
  [readFile.name]: ({ target_file, offset, limit }, at) => [
    'Read',
    { file_path: at(target_file), offset, limit },
  ],
  [write.name]: ({ path, contents }, at) => ['Write', { file_path: at(path), content: contents }],
  [strReplace.name]: ({ file_path, edits, ...edit }, at) =>
    Array.isArray(edits) && edits.length > 0
      ? ['MultiEdit', { file_path: at(file_path), edits }]
      : ['Edit', { file_path: at(file_path), ...edit }],
  // Its text is the new file in part: nothing of the old one is named.
  [editFile.name]: ({ target_file, code_edit }, at) => [
    'Edit',
    { file_path: at(target_file), old_string: '', new_string: code_edit },
  ],
  [editNotebook.name]: ({ target_notebook, new_string, ...cell }, at) => [
    'NotebookEdit',
    { notebook_path: at(target_notebook), new_source: new_string, ...cell },
  ],
  [deleteFile.name]: ({ target_file }) => ['Bash', { command: `rm ${wordOf(target_file)}` }],
  [renameFile.name]: ({ target_file, new_path }) => [
    'Bash',
    { command: `mv ${wordOf(target_file)} ${wordOf(new_path)}` },
  ],
  [grep.name]: ({ pattern, path }, at) => ['Grep', { pattern, path: at(path) }],
  [globFileSearch.name]: (args, at) => [
    'Glob',
    { pattern: args['glob_pattern'], path: at(args['target_directory']) },
  ],
  [listDir.name]: ({ target_directory }, at) => ['LS', { path: at(target_directory) }],
  [webFetch.name]: ({ url }) => ['WebFetch', { url, prompt: '' }],
  [webSearch.name]: ({ query }) => ['WebSearch', { query }],
  [activateSkill.name]: ({ name, args }) => ['Skill', { skill: name, args }],
  [codebaseSearch.name]: null,
  [readLints.name]: null,
  [readProcess.name]: null,
  [controlProcess.name]: null,
};

function absolute(root: string, path: string): string {
  return isAbsolute(path) ? path : join(root, path);
}

function wordOf(path: unknown): string {
  return shellWord(String(path));
}

/** A hook reads the beginning of a very long text. */
function bounded(input: Metadata): Metadata {
  const entries = Object.entries(input).map(([key, value]) => {
    const isLong = typeof value === 'string' && value.length > HOOK_LIMITS.maxInputChars;
    return [key, isLong ? value.slice(0, HOOK_LIMITS.maxInputChars) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** The change in the form of Codex's patches; undefined for a call that changes no content. */
function patchOf(call: HookedCall): string | undefined {
  const { name, input } = asClaude({ ...call, root: '' });
  const { content, edits, ...edit } = input;
  const path = String(input['file_path'] ?? input['notebook_path'] ?? '');
  const lines = (sign: string, text: unknown) =>
    String(text ?? '') === ''
      ? []
      : String(text)
          .split('\n')
          .map((line) => `${sign}${line}`);
  const patch = (kind: string, body: readonly string[]) =>
    ['*** Begin Patch', `*** ${kind} File: ${path}`, ...body, '*** End Patch'].join('\n');
  const hunk = ({ old_string, new_string, new_source }: Record<string, unknown>) => [
    '@@',
    ...lines('-', old_string),
    ...lines('+', new_string ?? new_source),
  ];
  switch (name) {
    case 'Write':
      return patch('Add', lines('+', content));
    case 'Edit':
    case 'NotebookEdit':
      return patch('Update', hunk(edit));
    case 'MultiEdit':
      return patch('Update', (edits as Record<string, unknown>[]).flatMap(hunk));
    default:
      return undefined;
  }
}
