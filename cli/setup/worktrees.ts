/** `drawbridge worktrees`: lists and removes the folders in which conversations work apart from the workspace. */
import type { Command } from 'commander';
import type { WorktreeStore } from '../../bridge/worktrees/store.ts';
import { locateState } from '../../local/state/folder.ts';
import { listCommand } from '../list/list-command.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerWorktrees(program: Command): void {
  listCommand(program, {
    command: 'worktrees',
    noun: 'worktree',
    description: 'List or remove the folders in which runs work on branches of their own',
    listDescription: 'List all, the one used last first',
    addOptions: addLocationOptions,
    open: openStore,
    load: async (store: WorktreeStore) => ({ items: store.list() }),
    id: ({ conversationId }) => conversationId,
    columns: {
      ID: ({ conversationId }) => conversationId,
      USED: ({ usedMs }) => new Date(usedMs),
      STATE: ({ usedMs, savedMs = 0 }) =>
        usedMs <= savedMs ? 'all committed' : 'may hold uncommitted work',
      BRANCH: ({ branch }) => branch,
    },
    empty: 'There is no worktree.',
    actions: [
      {
        name: 'remove',
        description: 'Remove a worktree with its uncommitted changes; its branch stays',
        ask: { question: 'Remove it for good?', declined: 'Nothing was removed.' },
        done: 'Removed',
        run: async ({ conversationId }, store) => await store.remove(conversationId),
      },
    ],
  });
}

async function openStore(options: LocationOptions): Promise<WorktreeStore> {
  const { WorktreeStore } = await import('../../bridge/worktrees/store.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  return new WorktreeStore(projectDir);
}
