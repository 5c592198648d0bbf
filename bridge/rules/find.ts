/** Finds the rule files of a workspace by their names. */
import { posix } from 'node:path';
import { filterInTurns } from '../../machine/compute/turns.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { listInTime } from '../../packages/code-index/index.ts';
import { readEntries, type Workspace } from '../../packages/workspace/index.ts';
import { RULE_READ_LIMITS } from './limits.ts';

/** A path that may be a rule file, relative to the workspace. */
export interface RuleCandidate {
  readonly path: string;
  /** The folder that the rule is about; `.` is the whole workspace. */
  readonly folder: string;
  /** `mdc` has a head that says when the rule applies. */
  readonly format: 'mdc' | 'plain';
}

export interface RuleCandidates {
  /** In the order in which the model gets them: root files, `.cursor/rules`, then nested files by their paths. */
  readonly found: readonly RuleCandidate[];
  /** False where the folders below could not be listed in time. */
  readonly isComplete: boolean;
}

/** Files whose whole text is a rule, in the order in which the model gets them. */
const PLAIN_NAMES = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cursorrules'];
/** `.cursorrules` was only ever read at the root. */
const NESTED_NAMES = PLAIN_NAMES.slice(0, 3);
const RULES_FOLDER = '.cursor/rules';

/**
 * The root files and `.cursor/rules` at the root count even where git ignores them: many people keep rules out of git.
 * Nested files that git ignores do not count, because they belong to packages and builds. `listed` has all files of the
 * workspace, hidden ones too.
 */
export async function findCandidates(
  workspace: Workspace,
  signal: AbortSignal,
  listed: Promise<readonly string[]> = listInTime(workspace.root, signal),
): Promise<RuleCandidates> {
  const [nested, own] = await Promise.all([
    nestedIn(listed, signal),
    listFolder(workspace, RULES_FOLDER),
  ]);
  const root = PLAIN_NAMES.map((path): RuleCandidate => ({ path, folder: '.', format: 'plain' }));
  const below = nested ?? [];
  const isRoot = ({ folder }: RuleCandidate) => folder === '.';
  const rules = [...new Set([...own, ...below.filter(isRoot).map(({ path }) => path)])].sort();
  const others = below.filter((one) => !isRoot(one)).sort((a, b) => (a.path < b.path ? -1 : 1));
  const mdc = rules.map((path): RuleCandidate => ({ path, folder: '.', format: 'mdc' }));
  return { found: [...root, ...mdc, ...others], isComplete: nested !== undefined };
}

/** Undefined where the folders could not be listed in time. */
async function nestedIn(
  listed: Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<RuleCandidate[] | undefined> {
  try {
    const named = await filterInTurns(await listed, isRuleName);
    return named.flatMap((path) => toCandidate(path) ?? []);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function isRuleName(path: string): boolean {
  return path.endsWith('.mdc') || NESTED_NAMES.includes(posix.basename(path));
}

/** Null for a file that is no rule file, and for a plain file at the root, which is always a candidate. */
function toCandidate(path: string): RuleCandidate | null {
  if (NESTED_NAMES.includes(posix.basename(path))) {
    const folder = posix.dirname(path);
    return folder === '.' ? null : { path, folder, format: 'plain' };
  }
  const at = `/${path}`.lastIndexOf(`/${RULES_FOLDER}/`);
  if (at < 0) return null;
  return { path, folder: at === 0 ? '.' : path.slice(0, at - 1), format: 'mdc' };
}

/** The `.mdc` files below a folder, whatever kind of entry has the name: reading them finds what is wrong. */
async function listFolder(workspace: Workspace, top: string): Promise<string[]> {
  const folders = [{ path: top, depth: 1 }];
  const files: string[] = [];
  for (const { path, depth } of folders) {
    for (const { name, kind } of await entriesOf(workspace, path)) {
      const entry = `${path}/${name}`;
      if (name.endsWith('.mdc') && kind !== 'folder') files.push(entry);
      else if (kind === 'folder' && depth < RULE_READ_LIMITS.maxFolderDepth) {
        // The loop also visits the folders that are added here.
        if (folders.length < RULE_READ_LIMITS.maxFolders) {
          folders.push({ path: entry, depth: depth + 1 });
        }
      }
    }
  }
  return files;
}

async function entriesOf(workspace: Workspace, path: string) {
  try {
    return await readEntries(await workspace.resolve(path, 'read'));
  } catch (error) {
    if (error instanceof ToolFailure) return []; // No such folder, or one that leads outside.
    throw error;
  }
}
