/** The tools this bridge can run, by their canonical names. */
import type { activateSkill } from '../../shared/tools/activate-skill.ts';
import type { ToolName } from '../../shared/tools/catalogue.ts';
import { deleteFile } from '../../shared/tools/delete-file.ts';
import { editFile } from '../../shared/tools/edit-file.ts';
import { editNotebook } from '../../shared/tools/edit-notebook.ts';
import { globFileSearch } from '../../shared/tools/glob-file-search.ts';
import { grep } from '../../shared/tools/grep.ts';
import { listDir } from '../../shared/tools/list-dir.ts';
import type { controlProcess, readProcess } from '../../shared/tools/process.ts';
import { readFile } from '../../shared/tools/read-file.ts';
import { renameFile } from '../../shared/tools/rename-file.ts';
import type { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import type { webFetch } from '../../shared/tools/web-fetch.ts';
import type { webSearch } from '../../shared/tools/web-search.ts';
import { write } from '../../shared/tools/write.ts';
import { EditChecks } from '../diagnostics/edit-checks.ts';
import type { LanguageServers } from '../diagnostics/servers.ts';
import type { Edit } from '../edits/propose.ts';
import type { Formatters } from '../formatting/formatters.ts';
import { codebaseSearching } from './codebase-search.ts';
import { createControlProcess } from './control-process.ts';
import { deleting } from './delete-file.ts';
import { type EditAids, editing } from './edit-tool.ts';
import { type ArgumentsOf, type BridgeTool, bindTool, doing } from './executor.ts';
import { executeGlobFileSearch } from './glob-file-search.ts';
import { executeGrep } from './grep.ts';
import { executeListDir } from './list-dir.ts';
import { executeReadFile } from './read-file.ts';
import { createReadLints } from './read-lints.ts';
import { createReadProcess } from './read-process.ts';
import { executeRenameFile } from './rename-file.ts';
import { withRuleNotes } from './rule-notes.ts';
import { type CommandMachine, createRunTerminalCmd } from './run-terminal-cmd.ts';
import { savingPlan } from './save-plan.ts';

/**
 * The tools by name: the file tools, and tools that need more than a workspace, such as
 * {@link createCommandTools}. With `servers` they check each edit, with `formatters` they format it. One of `more` takes
 * the place of a tool of its name.
 */
export function createCatalogue(
  more: readonly BridgeTool[] = [],
  servers?: LanguageServers,
  formatters?: Formatters,
): ReadonlyMap<string, BridgeTool> {
  const tools = [...Object.values(fileTools(servers, formatters)), savingPlan, ...more];
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

/** The tools that start commands, and read and stop them. */
export function createCommandTools(machine: CommandMachine): readonly BridgeTool[] {
  const { book } = machine.background;
  return [createRunTerminalCmd(machine), createReadProcess(book), createControlProcess(machine)];
}

/**
 * The tools that need more than a workspace: {@link createCommandTools} and bridge/parts.ts make them. The type checker
 * does not notice where one is missing, because not every bridge has all.
 */
type OtherName = (
  | typeof runTerminalCmd
  | typeof readProcess
  | typeof controlProcess
  | typeof webFetch
  | typeof webSearch
  | typeof activateSkill
)['name'];

/** A new tool of the bridge is one more line here; without it the program does not compile. */
function fileTools(
  servers: LanguageServers | undefined,
  formatters: Formatters | undefined,
): Readonly<Record<Exclude<ToolName<'bridge'>, OtherName>, BridgeTool>> {
  const aids: EditAids = { formatters, checks: servers && new EditChecks(servers) };
  return {
    read_file: doing(readFile, executeReadFile),
    list_dir: doing(listDir, withRuleNotes(executeListDir)),
    glob_file_search: doing(globFileSearch, withRuleNotes(executeGlobFileSearch)),
    grep: doing(grep, withRuleNotes(executeGrep)),
    codebase_search: codebaseSearching(),
    read_lints: createReadLints(servers),
    str_replace: editing(strReplace, toReplacement, aids),
    edit_file: editing(editFile, ({ code_edit }) => ({ kind: 'merge', text: code_edit }), aids),
    write: editing(write, ({ contents }) => ({ kind: 'write', text: contents }), aids),
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
