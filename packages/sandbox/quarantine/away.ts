/** The names of things that a look puts away, or takes a part of, instead of only reporting them. */

import type { BytePath } from '../../../machine/byte-path.ts';
import {
  AGENT_FOLDERS,
  INDEX_IGNORE_FILES,
  PROTECTED_IN_GITHUB,
  TOOL_IGNORE_FILES,
} from '../../workspace/index.ts';

/** A new one could close anything to the agent's tools. */
export const IGNORE_FILES = [...TOOL_IGNORE_FILES, ...INDEX_IGNORE_FILES];

/** Whether an entry of a folder of this name goes. Names count in any case: some file systems ignore it. */
export function goesAway(folder: BytePath, name: BytePath, isLink: boolean): boolean {
  return AWAY.has(name.toLowerCase()) || isAgents(folder, name, isLink);
}

/** Whether programs that start an agent find commands of their own in the entry. */
export function isAgents(folder: BytePath, name: BytePath, isLink: boolean): boolean {
  const lower = name.toLowerCase();
  if (isLink && lower === '.github') return true;
  return AGENTS.has(lower) || (folder.toLowerCase() === '.github' && IN_GITHUB.has(lower));
}

const AWAY: ReadonlySet<string> = new Set(['.git', '.drawbridge', ...IGNORE_FILES]);
const AGENTS: ReadonlySet<string> = new Set(AGENT_FOLDERS);
const IN_GITHUB: ReadonlySet<string> = new Set(PROTECTED_IN_GITHUB);
