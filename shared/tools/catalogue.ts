/** The built-in tools, by every name that a model may use. */
import { activateSkill } from './activate-skill.ts';
import { askQuestion } from './ask-question.ts';
import { codebaseSearch } from './codebase-search.ts';
import { createPlan } from './create-plan.ts';
import type { Executor, ToolDefinition } from './definition.ts';
import { deleteFile } from './delete-file.ts';
import { editFile } from './edit-file.ts';
import { editNotebook } from './edit-notebook.ts';
import { globFileSearch } from './glob-file-search.ts';
import { grep } from './grep.ts';
import { guestEdit } from './guest-edit.ts';
import { listDir } from './list-dir.ts';
import { controlProcess, readProcess } from './process.ts';
import { readFile } from './read-file.ts';
import { readLints } from './read-lints.ts';
import { renameFile } from './rename-file.ts';
import { runTerminalCmd } from './run-terminal-cmd.ts';
import { savePlan } from './save-plan.ts';
import { strReplace } from './str-replace.ts';
import { switchMode } from './switch-mode.ts';
import { task } from './task.ts';
import { todoWrite } from './todo-write.ts';
import { previewUndo, undoChanges } from './undo.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';
import { WORKTREE_TOOLS } from './worktree.ts';
import { write } from './write.ts';

const CATALOGUE = [
  readFile,
  listDir,
  globFileSearch,
  grep,
  codebaseSearch,
  readLints,
  webFetch,
  webSearch,
  strReplace,
  editFile,
  write,
  editNotebook,
  deleteFile,
  renameFile,
  runTerminalCmd,
  readProcess,
  controlProcess,
  todoWrite,
  createPlan,
  askQuestion,
  switchMode,
  task,
  activateSkill,
] as const;

/** Every built-in tool of a model, in the order in which the model gets them. */
export const TOOLS: readonly ToolDefinition[] = CATALOGUE;

/** The names of the built-in tools of some executors. */
export type ToolName<By extends Executor = Executor> = Extract<
  (typeof CATALOGUE)[number],
  { readonly executor: By }
>['name'];

/** The tools of calls that Drawbridge makes itself, at the bridge. No model has them. */
export const OWN_TOOLS: readonly ToolDefinition[] = [
  ...WORKTREE_TOOLS,
  savePlan,
  guestEdit,
  previewUndo,
  undoChanges,
];

/** The built-in tools of one executor, in the order of {@link TOOLS}. */
export function toolsRunBy(executor: Executor): readonly ToolDefinition[] {
  return TOOLS.filter((tool) => tool.executor === executor);
}

const BY_NAME = new Map<string, ToolDefinition>(
  TOOLS.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool])),
);

/** The built-in tool with this name or alias. The tools of a run are in its toolbox (toolbox.ts). */
export function findTool(name: string): ToolDefinition | undefined {
  return BY_NAME.get(name);
}
