/** The worktrees of one bridge on its disk: one folder for each, and what is known of it. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { currentCall, logTrouble } from '../../machine/log.ts';
import { PRIVATE_FOLDER, replaceFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { enteredFolder } from '../../packages/sandbox/index.ts';
import { ConversationId } from '../../shared/ids.ts';
import { parseJson } from '../../shared/text/json.ts';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import { worktreeFailed } from './git.ts';

/** A finished worktree. */
export const WorktreeFacts = z.object({
  conversationId: ConversationId,
  branch: z.string(),
  /** A commit id. */
  base: z.string(),
  /** The workspace's path in the repository, with `/` at its end. */
  prefix: z.string(),
  /** The person's objects. */
  objects: z.string(),
  uncommitted: z.boolean(),
  /** The person's folders that commands see in it, relative to the workspace. */
  links: z.array(z.string()),
  /** Submodules of `base`. Absent in what an earlier bridge has kept. */
  modules: z.array(z.string()).optional(),
  /** What a reader of the result should know: submodules, large files, folders that could not be linked. */
  notes: z.array(z.string()),
  /** Epoch milliseconds. The files of the checkout and of the setup are not younger. */
  createdMs: z.number(),
  /** The newest commit of the branch; null before the first. */
  head: z.string().nullable(),
  /** A commit that is about to become `head`. */
  landing: z.string().optional(),
  /** Epoch milliseconds of the close that committed everything there was then. */
  savedMs: z.number().optional(),
});
export type WorktreeFacts = z.infer<typeof WorktreeFacts>;

export interface KeptWorktree extends WorktreeFacts {
  /** Epoch milliseconds. */
  readonly usedMs: number;
}

/** The parts of a worktree's folder. */
export interface WorktreePaths {
  readonly folder: string;
  /** The files, with a `.git` for the agent's commands. */
  readonly tree: string;
  /** The repository that the bridge alone uses. */
  readonly record: string;
  readonly facts: string;
}

/** The folders of the worktrees in the state folder, one for each conversation by its id. */
export class WorktreeStore {
  /** Holds all of them. It need not exist. */
  readonly folder: string;

  constructor(stateDir: string) {
    this.folder = enteredFolder(stateDir, 'worktrees');
  }

  pathsOf(conversationId: string): WorktreePaths {
    const folder = join(this.folder, conversationId);
    const inside = (name: string) => join(folder, name);
    return {
      folder,
      tree: inside('tree'),
      record: inside('record'),
      facts: inside('worktree.json'),
    };
  }

  /** Undefined where the conversation has no finished worktree. */
  read(conversationId: string): WorktreeFacts | undefined {
    try {
      const text = readFileSync(this.pathsOf(conversationId).facts, 'utf8');
      const parsed = WorktreeFacts.safeParse(parseJson(text, JSON_LIMITS.maxDepth));
      return parsed.data;
    } catch (error) {
      if (isSystemError(error, 'ENOENT', 'ENOTDIR') || error instanceof SyntaxError)
        return undefined;
      throw error;
    }
  }

  /** The one used last comes first. */
  list(): KeptWorktree[] {
    const kept = this.#names().flatMap((name) => {
      const facts = ConversationId.safeParse(name).success ? this.read(name) : undefined;
      if (facts === undefined) return [];
      return [{ ...facts, usedMs: statSync(this.pathsOf(name).facts).mtimeMs }];
    });
    return kept.toSorted((a, b) => b.usedMs - a.usedMs);
  }

  /** Makes the folder of a worktree that is not finished. */
  begin(conversationId: string): WorktreePaths {
    mkdirSync(this.folder, { recursive: true, mode: ENTERED });
    const paths = this.pathsOf(conversationId);
    mkdirSync(paths.folder, { mode: ENTERED });
    return paths;
  }

  /** From the first save on the worktree counts as finished. */
  save(facts: WorktreeFacts): void {
    replaceFile(this.pathsOf(facts.conversationId).facts, JSON.stringify(facts));
  }

  /** Notes that all there is now is committed. Until its next use the file is not younger than this. */
  saveCommitted(facts: WorktreeFacts): void {
    this.save({ ...facts, savedMs: Date.now() + CLOCK_STEP_MS });
  }

  /** Notes that the worktree is used now. */
  async use(conversationId: string): Promise<void> {
    const now = new Date();
    // The worktree may have been removed meanwhile, which the call then reports.
    await utimes(this.pathsOf(conversationId).facts, now, now).catch(() => {});
  }

  /**
   * It does not exist any more from the moment of the call; its files go after that. What a running command still makes
   * among them goes with the next one.
   */
  async remove(conversationId: string): Promise<void> {
    const { folder } = this.pathsOf(conversationId);
    const gone = join(this.folder, `${REMOVED}${randomUUID()}`);
    try {
      renameSync(folder, gone);
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return;
      throw error;
    }
    for (const name of this.#names().filter((name) => name.startsWith(REMOVED))) {
      await removeFiles(join(this.folder, name)).catch((error) =>
        logTrouble({ event: 'worktree_left', ...currentCall() }, NOT_REMOVED, error),
      );
    }
  }

  /** Removes what a killed bridge left unfinished of this worktree. Throws a ToolFailure for a finished one. */
  async removeLeftover(conversationId: string): Promise<void> {
    if (this.#isLeftover(conversationId)) return await this.remove(conversationId);
    const { facts } = this.pathsOf(conversationId);
    throw worktreeFailed(
      `${facts} is not right, or from a newer bridge, so the worktree beside it stays as it is: the person can update ` +
        'Drawbridge, or remove that folder.',
    );
  }

  /** Removes what a killed bridge left unfinished. No other process of the same state may be making a worktree. */
  async removeLeftovers(): Promise<void> {
    const leftovers = this.#names().filter((name) => this.#isLeftover(name));
    for (const name of leftovers) await removeFiles(join(this.folder, name));
  }

  #isLeftover(name: string): boolean {
    if (name.startsWith(REMOVED)) return true;
    if (!ConversationId.safeParse(name).success) return false;
    // A file that cannot be read is no leftover: its owner decides.
    return lstatSync(this.pathsOf(name).facts, { throwIfNoEntry: false }) === undefined;
  }

  #names(): string[] {
    try {
      return readdirSync(this.folder);
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

const REMOVED = 'removed-';
/** What the log says then. */
export const NOT_REMOVED = 'What is left of a worktree cannot be removed';

/** A file system's clock runs in steps, and the file is written after the time was read. */
const CLOCK_STEP_MS = 100;

const IS_ROOT = process.getuid?.() === 0;

/** Commands of a bridge that root runs are another user's, who must get through. What lies below is not listed. */
const ENTERED = IS_ROOT ? 0o711 : PRIVATE_FOLDER;

/** Removes unreadable folders too, and paths that are too long for one call of the system. */
async function removeFiles(path: string): Promise<void> {
  const options = { env: { PATH: '/usr/bin:/bin' } };
  await promisify(execFile)('chmod', ['-R', 'u+rwx', '--', path], options).catch(() => {});
  await promisify(execFile)('rm', ['-rf', '--', path], options);
}
