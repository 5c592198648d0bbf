/** What the machine's owner decides about worktrees: `worktrees.json` in the state folder. */
import { join } from 'node:path';
import * as z from 'zod';
import { readIfThere } from '../../machine/private-files.ts';
import { invalidRequest } from '../../shared/errors.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { worktreeFailed } from './git.ts';
import { WORKTREE_LIMITS } from './limits.ts';

const Settings = z.strictObject({
  /** Folders of the workspace that commands in a worktree see, read-only: `node_modules`, unless there is a setup. */
  link: z
    .array(z.string().regex(/^(?!\.{0,2}(?:\/|$))(?!.*\/\.{0,2}(?:\/|$))[^\0\n]+$/))
    .max(WORKTREE_LIMITS.maxLinks)
    .optional(),
  /** A command line that runs in each new worktree, in the sandbox. */
  setup: z.string().min(1).optional(),
  /** Whether the setup may use the network. */
  network: z.boolean().default(false),
});

export interface WorktreeSettings extends z.infer<typeof Settings> {
  readonly link: string[];
}

/** The settings as they are now, or the defaults without a file. Throws a ToolFailure for a wrong file. */
export async function readSettings(stateDir: string): Promise<WorktreeSettings> {
  const text = await readIfThere(join(stateDir, 'worktrees.json'));
  const parsed = Settings.safeParse(text === undefined ? {} : parseIfJson(text));
  if (parsed.success) {
    const { setup, link = setup === undefined ? ['node_modules'] : [] } = parsed.data;
    return { ...parsed.data, link };
  }
  throw worktreeFailed(
    `The owner's worktrees.json is not right: ${invalidRequest(parsed.error).message}. ` +
      'Expected: {"link":["node_modules"]}, or {"setup":"npm ci","network":true}',
  );
}
