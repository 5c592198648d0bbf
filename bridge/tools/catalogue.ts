/** The tools this bridge can run, by their canonical names. */

import * as z from 'zod';
import { codebaseSearch } from '../../shared/tools/codebase-search.ts';
import { renameArguments, subjectsOf, type ToolDefinition } from '../../shared/tools/definition.ts';
import { deleteFile } from '../../shared/tools/delete-file.ts';
import { editFile } from '../../shared/tools/edit-file.ts';
import { globFileSearch } from '../../shared/tools/glob-file-search.ts';
import { grep } from '../../shared/tools/grep.ts';
import { listDir } from '../../shared/tools/list-dir.ts';
import { readFile } from '../../shared/tools/read-file.ts';
import { renameFile } from '../../shared/tools/rename-file.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import { write } from '../../shared/tools/write.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { ToolFailure } from '../failure.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { executeCodebaseSearch } from './codebase-search.ts';
import { executeDeleteFile } from './delete-file.ts';
import { executeEditFile } from './edit-file.ts';
import {
  type ArgumentsOf,
  type ToolContext,
  type ToolExecutor,
  toErrorResult,
} from './executor.ts';
import { executeGlobFileSearch } from './glob-file-search.ts';
import { executeGrep } from './grep.ts';
import { executeListDir } from './list-dir.ts';
import { executeReadFile } from './read-file.ts';
import { executeRenameFile } from './rename-file.ts';
import { withRuleNotes } from './rule-notes.ts';
import { executeStrReplace } from './str-replace.ts';
import { executeWrite } from './write.ts';

/** A tool with its schema and its work bound together, so that a caller needs to know neither's types. */
export interface BridgeTool {
  readonly definition: ToolDefinition;
  /** Checks the arguments (`INVALID_ARGUMENTS`), then runs the call as {@link ToolExecutor} says. */
  readonly execute: (args: unknown, context: ToolContext) => Promise<ToolResult>;
  /** Calls that have a key in common must run one after the other; those without any need not wait. */
  readonly serialKeys: (args: unknown, workspace: Workspace) => Promise<readonly string[]>;
}

/**
 * The tools by name: those for files, and what the bridge adds to them because it needs more than a workspace, such as
 * `bindTool(runTerminalCmd, createRunTerminalCmd(machine))`.
 */
export function createCatalogue(...more: readonly BridgeTool[]): ReadonlyMap<string, BridgeTool> {
  return new Map([...FILE_TOOLS, ...more].map((tool) => [tool.definition.name, tool]));
}

/** A new tool is one more line here. */
const FILE_TOOLS: readonly BridgeTool[] = [
  bindTool(readFile, executeReadFile),
  bindTool(listDir, withRuleNotes(listDir, executeListDir)),
  bindTool(globFileSearch, withRuleNotes(globFileSearch, executeGlobFileSearch)),
  bindTool(grep, withRuleNotes(grep, executeGrep)),
  bindTool(codebaseSearch, withRuleNotes(codebaseSearch, executeCodebaseSearch)),
  bindTool(strReplace, executeStrReplace),
  bindTool(editFile, executeEditFile),
  bindTool(write, executeWrite),
  bindTool(deleteFile, executeDeleteFile),
  bindTool(renameFile, executeRenameFile),
];

/** Binds a tool's definition to what runs it here. */
export function bindTool<Definition extends ToolDefinition>(
  definition: Definition,
  execute: ToolExecutor<ArgumentsOf<Definition>>,
): BridgeTool {
  return {
    definition,
    execute: async (args, context) => {
      const parsed = parseArguments(definition, args);
      return parsed.ok ? execute(parsed.args, context) : parsed.result;
    },
    serialKeys: async (args, workspace) => {
      const parsed = parseArguments(definition, args);
      if (!parsed.ok || definition.document.type !== 'file_edit') return [];
      const paths = subjectsOf(definition, parsed.args).map((path) => pathOf(path, workspace));
      return (await Promise.all(paths)).filter((path) => path !== null);
    },
  };
}

type ParsedArguments<Args> =
  | { readonly ok: true; readonly args: Args }
  | { readonly ok: false; readonly result: ToolResult };

/**
 * The edge has parsed them too, but the machine's owner need not trust the edge. Under other names as well: what runs
 * must be what the policy has judged.
 */
function parseArguments<Definition extends ToolDefinition>(
  definition: Definition,
  args: unknown,
): ParsedArguments<ArgumentsOf<Definition>> {
  const named = z.record(z.string(), z.unknown()).safeParse(args);
  const parsed = definition.arguments.safeParse(
    named.success ? renameArguments(definition, named.data) : args,
  );
  if (parsed.success) return { ok: true, args: parsed.data as ArgumentsOf<Definition> };
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const message = `The arguments of ${definition.name} are not valid: ${issues.join('; ')}.`;
  return { ok: false, result: toErrorResult(new ToolFailure('INVALID_ARGUMENTS', message)) };
}

/** The resolved path; null when the call will be refused anyway. */
async function pathOf(path: string, workspace: Workspace): Promise<string | null> {
  try {
    return (await workspace.resolve(path, 'write')).path;
  } catch (error) {
    if (error instanceof ToolFailure) return null;
    throw error;
  }
}
