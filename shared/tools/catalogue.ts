/** All tools, by every name a model may call them. */
import type { Mode } from '../modes.ts';
import { modeAllows } from '../modes.ts';
import type { ToolDefinition } from './definition.ts';
import { deleteFile } from './delete-file.ts';
import { editFile } from './edit-file.ts';
import { globFileSearch } from './glob-file-search.ts';
import { grep } from './grep.ts';
import { listDir } from './list-dir.ts';
import { readFile } from './read-file.ts';
import { runTerminalCmd } from './run-terminal-cmd.ts';
import { strReplace } from './str-replace.ts';
import { write } from './write.ts';

/** The tools that run on a bridge, in the order they are offered. */
export const BRIDGE_TOOLS: readonly ToolDefinition[] = [
  readFile,
  listDir,
  globFileSearch,
  grep,
  strReplace,
  editFile,
  write,
  deleteFile,
  runTerminalCmd,
];

const BY_NAME = new Map<string, ToolDefinition>(
  BRIDGE_TOOLS.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool])),
);

/** The tool of this name or alias. */
export function findTool(name: string): ToolDefinition | undefined {
  return BY_NAME.get(name);
}

/** The tools that a mode offers, out of those a bridge can run. */
export function toolsOffered(mode: Mode, available: ReadonlySet<string>): ToolDefinition[] {
  return BRIDGE_TOOLS.filter((tool) => modeAllows(mode, tool.effect) && available.has(tool.name));
}
