/**
 * The tools of a worktree: a folder and a branch of its own, in which a conversation's calls work at a bridge with git, so
 * that the person's files stay as they are. Drawbridge makes these calls itself. No model has the tools, and they are in
 * no catalogue. Each may be repeated.
 */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../limits.ts';
import { defineTool, type ToolDefinition } from './definition.ts';

const OF_BRIDGE = {
  aliases: [],
  renamed: {},
  effect: 'write',
  // The person's files stay as they are.
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  // The owner's rules see a change to the whole workspace.
  subject: () => '.',
} as const;

/** A name or a revision for git. It never begins as an option does. */
const GitName = z
  .string()
  .max(REQUEST_LIMITS.maxNameChars)
  .regex(/^[^-\s\p{Cc}][^\p{Cc}]*$/u);

/**
 * Makes the conversation's worktree, or finds the one that it has. `branch` must be new; without it the bridge chooses a
 * name. `base` is a commit, branch or tag of the person's repository; without it the work begins at `HEAD`.
 *
 * Error codes: `NOT_A_REPOSITORY`, `BASE_NOT_FOUND`, `BRANCH_TAKEN`, `SETUP_FAILED`, and `WORKTREE_FAILED` for all else.
 */
export const openWorktree = defineTool({
  ...OF_BRIDGE,
  name: 'open_worktree',
  description: 'Begins work in a branch of its own.',
  arguments: z.object({ branch: GitName.optional(), base: GitName.optional() }),
});

/**
 * Reports the difference from `base`. With `commit` it also puts everything into one commit on the branch, which the
 * person's repository has from then on. The worktree stays: more calls and another close may follow.
 *
 * Error codes: `WORKTREE_GONE`, `BRANCH_TAKEN` (another program has changed the branch, or has checked it out), and
 * `WORKTREE_FAILED`.
 */
export const closeWorktree = defineTool({
  ...OF_BRIDGE,
  name: 'close_worktree',
  description: 'Ends work in a branch of its own with its difference.',
  shows: ['message'],
  arguments: z.object({
    commit: z.boolean(),
    message: z.string().min(1).max(REQUEST_LIMITS.maxReasonChars).optional(),
  }),
});

/** Ends the worktree's commands, and removes it unless its work is uncommitted. A success in each case. */
export const removeWorktree = defineTool({
  ...OF_BRIDGE,
  name: 'remove_worktree',
  description: 'Removes the folder of a branch of its own.',
  arguments: z.object({}),
});

export const WORKTREE_TOOLS: readonly ToolDefinition[] = [
  openWorktree,
  closeWorktree,
  removeWorktree,
];

/** Whether a bridge with these tools has worktrees: then it also understands `worktree` in a call. */
export function hasWorktrees(bridge: { readonly tools: readonly string[] }): boolean {
  return bridge.tools.includes(openWorktree.name);
}

/** The message where {@link hasWorktrees} is false. */
export const WORKTREES_NOT_SUPPORTED =
  'The bridge cannot make a worktree: it is not there, has no git, or is too old. Update it, or make an agent with ' +
  '"workspace": "in_place", which works in the folder itself';

/** The metadata of a success of {@link openWorktree}. */
export const OpenedWorktree = z.object({
  branch: z.string(),
  /** A commit id. */
  base: z.string(),
  /** Whether the person's folder had changes then that no commit has: they are not in the worktree. */
  uncommitted: z.boolean(),
  /** The folder of the work on the bridge's machine: absolute, and what the workspace is in a call without worktree. */
  path: z.string(),
});
export type OpenedWorktree = z.infer<typeof OpenedWorktree>;

/** The metadata of a success of {@link closeWorktree}. All of it compares with `base`. */
export const ClosedWorktree = z.object({
  branch: z.string(),
  /** The newest commit of the branch, or `base` while the branch has none of its own. */
  head: z.string(),
  /** Whether `head` has all of the work: the person's repository then has the branch. */
  committed: z.boolean(),
  /** The changed files; no more than a bound, see `omitted`. */
  files: z.array(
    z.object({
      /** In the repository, whose folder may be above the workspace's. */
      path: z.string(),
      status: z.enum(['added', 'modified', 'deleted', 'renamed']),
      /** Lines; null for a file that is not text. */
      added: z.int().nullable(),
      removed: z.int().nullable(),
      /** The earlier path of a renamed file. */
      from: z.string().optional(),
    }),
  ),
  /** Changed files that `files` does not list. */
  omitted: z.int(),
  /** Submodules and other repositories inside with work of the run, which no commit can hold. */
  left: z.array(z.string()).optional(),
  /** In git's format. It ends with a line that says so where it was cut. */
  diff: z.string(),
});
export type ClosedWorktree = z.infer<typeof ClosedWorktree>;
