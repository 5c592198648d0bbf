/** The tools of files, and the work of each. */

import { withRuleNotes } from '../../packages/code-index/index.ts';
import type { Edit } from '../../packages/edits/index.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  doing,
  type EditShape,
} from '../../packages/host/index.ts';
import type { activateSkill } from '../../shared/tools/activate-skill.ts';
import type { ToolName } from '../../shared/tools/catalogue.ts';
import type { codebaseSearch } from '../../shared/tools/codebase-search.ts';
import { deleteFile } from '../../shared/tools/delete-file.ts';
import { editFile } from '../../shared/tools/edit-file.ts';
import { editNotebook } from '../../shared/tools/edit-notebook.ts';
import { globFileSearch } from '../../shared/tools/glob-file-search.ts';
import { grep } from '../../shared/tools/grep.ts';
import { listDir } from '../../shared/tools/list-dir.ts';
import type { controlProcess, readProcess } from '../../shared/tools/process.ts';
import { readFile } from '../../shared/tools/read-file.ts';
import type { readLints } from '../../shared/tools/read-lints.ts';
import { renameFile } from '../../shared/tools/rename-file.ts';
import type { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import type { webFetch } from '../../shared/tools/web-fetch.ts';
import type { webSearch } from '../../shared/tools/web-search.ts';
import { write } from '../../shared/tools/write.ts';
import { deleting } from './delete-file.ts';
import { editing } from './edit-tool.ts';
import { executeGlobFileSearch } from './glob-file-search.ts';
import { executeGrep } from './grep.ts';
import { executeListDir } from './list-dir.ts';
import { executeReadFile } from './read-file.ts';
import { executeRenameFile } from './rename-file.ts';
import { savingPlan } from './save-plan.ts';

/** The tools of files. An edit gets the shapes in their order before it is proposed. */
export function createFileTools(shapes: readonly EditShape[] = []): readonly BridgeTool[] {
  return [...Object.values(toolsOf(shapes)), savingPlan];
}

/** Tools that features bring: the type checker does not notice where one is missing, because not every bridge has all. */
type FeatureTool = (
  | typeof activateSkill
  | typeof codebaseSearch
  | typeof controlProcess
  | typeof readLints
  | typeof readProcess
  | typeof runTerminalCmd
  | typeof webFetch
  | typeof webSearch
)['name'];

/** A new tool of files is one more line here; without it the program does not compile. */
function toolsOf(
  shapes: readonly EditShape[],
): Readonly<Record<Exclude<ToolName<'bridge'>, FeatureTool>, BridgeTool>> {
  return {
    read_file: doing(readFile, executeReadFile),
    list_dir: doing(listDir, withRuleNotes(executeListDir)),
    glob_file_search: doing(globFileSearch, withRuleNotes(executeGlobFileSearch)),
    grep: doing(grep, withRuleNotes(executeGrep)),
    str_replace: editing(strReplace, toReplacement, shapes),
    edit_file: editing(editFile, ({ code_edit }) => ({ kind: 'merge', text: code_edit }), shapes),
    write: editing(write, ({ contents }) => ({ kind: 'write', text: contents }), shapes),
    edit_notebook: editing(editNotebook, toCellEdit),
    delete_file: bindTool(deleteFile, deleting),
    rename_file: doing(renameFile, executeRenameFile),
  };
}

function toReplacement({
  edits = [],
  old_string = '',
  new_string = '',
  replace_all,
}: ArgumentsOf<typeof strReplace>): Edit {
  const given = edits.length > 0 ? edits : [{ old_string, new_string, replace_all }];
  const pieces = given.map((piece) => ({
    search: piece.old_string,
    replacement: piece.new_string,
    all: piece.replace_all ?? false,
  }));
  return { kind: 'replace', pieces };
}

function toCellEdit(args: ArgumentsOf<typeof editNotebook>): Edit {
  return {
    kind: 'cell',
    mode: args.mode ?? 'replace',
    id: args.cell_id,
    index: args.cell_index,
    type: args.cell_type,
    search: args.old_string,
    source: args.new_string ?? '',
    keepOutputs: args.keep_outputs ?? false,
  };
}
