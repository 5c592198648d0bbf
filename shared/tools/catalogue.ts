/** All tools, by every name a model may call them. */
import type { Mode } from '../modes.ts';
import { modeAllows } from '../modes.ts';
import { askQuestion } from './ask-question.ts';
import { codebaseSearch } from './codebase-search.ts';
import { createPlan } from './create-plan.ts';
import type { ToolDefinition } from './definition.ts';
import { deleteFile } from './delete-file.ts';
import { editFile } from './edit-file.ts';
import { globFileSearch } from './glob-file-search.ts';
import { grep } from './grep.ts';
import { listDir } from './list-dir.ts';
import { readFile } from './read-file.ts';
import { renameFile } from './rename-file.ts';
import { runTerminalCmd } from './run-terminal-cmd.ts';
import { strReplace } from './str-replace.ts';
import { todoWrite } from './todo-write.ts';
import { write } from './write.ts';

/** The tools that run on a bridge, in the order they are offered. */
export const BRIDGE_TOOLS: readonly ToolDefinition[] = [
  readFile,
  listDir,
  globFileSearch,
  grep,
  codebaseSearch,
  strReplace,
  editFile,
  write,
  deleteFile,
  renameFile,
  runTerminalCmd,
];

/** The tools that need no machine: the conversation runs them itself. */
export const EDGE_TOOLS: readonly ToolDefinition[] = [todoWrite, createPlan, askQuestion];

/** Every tool, in the order they are offered. */
export const TOOLS: readonly ToolDefinition[] = [...BRIDGE_TOOLS, ...EDGE_TOOLS];

const BY_NAME = new Map<string, ToolDefinition>(
  TOOLS.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool])),
);

/** The tool of this name or alias. */
export function findTool(name: string): ToolDefinition | undefined {
  return BY_NAME.get(name);
}

/** What a person's yes to a call does, in words that follow it: "y …". */
export function consequenceOf(name: string): string {
  const document = findTool(name)?.document;
  if (document?.type === 'terminal_command') return 'runs this command';
  if (document?.type !== 'file_edit') return 'lets this tool run';
  return CONSEQUENCES[document.operation];
}

const CONSEQUENCES = {
  create: 'writes this file',
  edit: 'makes this edit',
  delete: 'deletes this file',
  rename: 'renames this file',
} as const;

/** Names of the API's table of tools that this version has nothing for. Requests may name them. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'web_search',
  'WebSearch',
  'WebFetch',
  'edit_notebook',
  'EditNotebook',
  'read_lints',
  'ReadLints',
  'Task',
  'SwitchMode',
]);

export function isUnavailable(name: string): boolean {
  return UNAVAILABLE.has(name);
}

export function runsOnEdge(tool: ToolDefinition): boolean {
  return EDGE_TOOLS.includes(tool);
}

/** Whether the tool's subject is a path of the workspace. */
export function takesPath(tool: ToolDefinition): boolean {
  return !runsOnEdge(tool) && tool.document.type !== 'terminal_command';
}

/** Whether a mode lets the tool run: by what it may change, and by what it is for. */
export function modeHasTool(mode: Mode, { effect, modes }: ToolDefinition): boolean {
  return modeAllows(mode, effect) && (modes?.includes(mode) ?? true);
}

/** The tools that a mode offers, out of the edge's own and those a bridge can run. */
export function toolsOffered(mode: Mode, onBridge: ReadonlySet<string>): ToolDefinition[] {
  return TOOLS.filter(
    (tool) => modeHasTool(mode, tool) && (runsOnEdge(tool) || onBridge.has(tool.name)),
  );
}
