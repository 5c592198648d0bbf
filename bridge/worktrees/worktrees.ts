/** The tools by which the edge opens, closes and removes the worktrees of a bridge. */

import { ToolFailure } from '../../machine/failure.ts';
import { logTrouble } from '../../machine/log.ts';
import { findProgram } from '../../machine/programs.ts';
import { type ArgumentsOf, doing, type ToolContext } from '../../packages/host/index.ts';
import { chooseAccount } from '../../packages/sandbox/index.ts';
import {
  type ClosedWorktree,
  closeWorktree as closeTool,
  type OpenedWorktree,
  openWorktree as openTool,
  removeWorktree as removeTool,
} from '../../shared/tools/worktree.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import type { RoomPart } from '../feature.ts';
import { type ClosedTree, closeWorktree } from './closing.ts';
import { Git, worktreeFailed } from './git.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import { makeWorktree, type Workshop } from './making.ts';
import { Rooms, type RoomsConfig } from './rooms.ts';
import { NOT_REMOVED, type WorktreeFacts, WorktreeStore } from './store.ts';

export interface WorktreesConfig
  extends Pick<Workshop, 'stateDir' | 'isForeign'>,
    Pick<RoomsConfig, 'workspace' | 'furnishing'> {
  /** The files, by their paths in the workspace, that the rules let tools read. */
  readonly readShowable: () => Promise<{ readonly mayRead: (name: string) => boolean }>;
}

/**
 * The rooms of a bridge. On a machine with git conversations can have worktrees; begins to remove what a killed bridge of the
 * same state left of some unfinished.
 */
export async function openRooms(config: WorktreesConfig): Promise<Rooms> {
  const { workspace, furnishing, stateDir, isForeign } = config;
  const { root } = workspace.workspace;
  const file = await findProgram('git');
  if (file === undefined) return new Rooms({ workspace, furnishing });
  const chosen = await chooseAccount(root);
  const account = chosen.ok ? chosen.account : undefined;
  const store = new WorktreeStore(stateDir);
  const git = new Git({ file, prefix: account?.prefix ?? [] });
  const { confinement } = workspace;
  const workshop = { root, stateDir, store, git, account, confinement, isForeign };
  return new Rooms(
    { workspace, furnishing, workshop },
    (rooms) => new Worktrees(rooms, workshop, config.readShowable).part,
  );
}

/** Opens, closes and removes worktrees. */
class Worktrees {
  readonly part: RoomPart;
  readonly #rooms: Rooms;
  readonly #workshop: Workshop;
  readonly #readShowable: WorktreesConfig['readShowable'];
  readonly #cleared: Promise<void>;

  constructor(rooms: Rooms, workshop: Workshop, readShowable: WorktreesConfig['readShowable']) {
    this.#rooms = rooms;
    this.#workshop = workshop;
    this.#readShowable = readShowable;
    this.#cleared = workshop.store
      .removeLeftovers()
      .catch((error) => logTrouble({ event: 'worktree_left' }, NOT_REMOVED, error));
    this.part = {
      tools: [
        doing(openTool, (args, context) => this.#open(args, context)),
        doing(closeTool, (args, context) => this.#close(args, context)),
        doing(removeTool, (_, context) => this.#remove(context)),
      ],
      end: () => this.#cleared,
    };
  }

  /** Opens, closes or removes, one at a time for each conversation. Every expected failure has a code of worktrees. */
  async #work(
    { conversationId, signal }: ToolContext,
    work: () => Promise<ToolResult>,
  ): Promise<ToolResult> {
    try {
      await this.#cleared;
      return await this.#rooms.inTurn(conversationId, signal, work);
    } catch (error) {
      throw toWorktreeFailure(error);
    }
  }

  async #open(
    { branch, base }: ArgumentsOf<typeof openTool>,
    context: ToolContext,
  ): Promise<ToolResult> {
    const { conversationId, signal, onOutput } = context;
    return await this.#work(context, async () => {
      const known = this.#workshop.store.read(conversationId);
      const wanted = { conversationId, branch, base };
      const { facts, output } = known
        ? { facts: known, output: '' }
        : await makeWorktree(this.#workshop, wanted, { signal, onOutput });
      const { workspace } = await this.#rooms.enter(facts);
      return toOpened(facts, workspace.root, output);
    });
  }

  async #close(
    { commit, message }: ArgumentsOf<typeof closeTool>,
    context: ToolContext,
  ): Promise<ToolResult> {
    const { conversationId, signal } = context;
    return await this.#work(context, async () => {
      const facts = await this.#rooms.find(conversationId);
      const isSettled = await this.#rooms.settled(conversationId, signal);
      const said = commit ? (message ?? `Work on ${facts.branch}`) : undefined;
      const { closed, notes } = await this.#look(facts, said, signal);
      return toClosed(closed, isSettled ? notes : [STILL_RUNS, ...notes]);
    });
  }

  async #look(
    facts: WorktreeFacts,
    message: string | undefined,
    signal: AbortSignal,
  ): Promise<ClosedTree> {
    const { confinement } = await this.#rooms.enter(facts);
    const { mayRead } = await this.#readShowable();
    const paths = this.#workshop.store.pathsOf(facts.conversationId);
    const closing = { facts, paths, confinement, message, mayRead };
    return await closeWorktree(this.#workshop, closing, signal);
  }

  async #remove(context: ToolContext): Promise<ToolResult> {
    const { conversationId, signal } = context;
    return await this.#work(context, async () => {
      const { store } = this.#workshop;
      const isSettled = await this.#rooms.settled(conversationId, signal);
      const holdsWork = !isSettled || (await this.#holdsWork(store.read(conversationId), signal));
      await this.#rooms.leave(conversationId);
      if (holdsWork) return { status: 'success', data: KEPT };
      await store.remove(conversationId);
      return { status: 'success', data: 'The worktree is removed.' };
    });
  }

  /** A worktree that cannot be looked at may hold work. */
  async #holdsWork(facts: WorktreeFacts | undefined, signal: AbortSignal): Promise<boolean> {
    if (facts === undefined) return false;
    try {
      return (await this.#look(facts, undefined, signal)).holdsWork;
    } catch (error) {
      if (error instanceof ToolFailure) return error.code !== 'WORKTREE_GONE';
      throw error;
    }
  }
}

const KEPT =
  'The worktree may hold work that is in no commit, so its folder stays. The person can look at it and remove it ' +
  '(`drawbridge worktrees`).';

const STILL_RUNS = 'A call still runs in it: its further changes are missing here.';

/** Any other error than the sandbox's and the disk's is returned unchanged. */
function toWorktreeFailure(error: unknown): unknown {
  if (error instanceof ToolFailure && error.code === 'SANDBOX_FAILED') {
    return worktreeFailed(error.message);
  }
  const isOfDisk = error instanceof Error && 'syscall' in error && 'code' in error;
  return isOfDisk ? worktreeFailed(`The disk does not take the worktree: ${error.message}`) : error;
}

function toOpened(facts: WorktreeFacts, path: string, output: string): ToolResult {
  const { branch, base, uncommitted, links, notes } = facts;
  const metadata: OpenedWorktree = { branch, base, uncommitted, path };
  const lines = [
    `The work is on the branch ${branch}, which begins at ${base}, in ${path}.`,
    ...(uncommitted ? ["The person's uncommitted changes are not in it."] : []),
    ...(links.length > 0 ? [`Read-only, for commands alone: ${links.join(', ')}.`] : []),
    ...notes,
    ...(output === '' ? [] : [`The setup printed:\n${output}`]),
  ];
  return { status: 'success', data: lines.join('\n'), metadata };
}

function toClosed(closed: ClosedWorktree, notes: readonly string[]): ToolResult {
  const { branch, head, committed, files, omitted, diff } = closed;
  const count = files.length + omitted;
  const { maxShownDiffChars } = WORKTREE_LIMITS;
  const lines = [
    committed ? `All of it is in the commit ${head} of ${branch}.` : 'Not all of it is committed.',
    count === 1 ? '1 file has changed.' : `${count} files have changed.`,
    ...notes,
    diff.length <= maxShownDiffChars
      ? diff
      : `${diff.slice(0, maxShownDiffChars).toWellFormed()}\n[cut]`,
  ];
  return { status: 'success', data: lines.join('\n'), metadata: { ...closed } };
}
