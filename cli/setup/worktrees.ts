/** `drawbridge worktrees`: lists and removes the folders in which conversations work apart from the workspace. */
import type { Command } from 'commander';
import type { KeptWorktree } from '../../bridge/worktrees/store.ts';
import { locateState } from '../../local/state/folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { askFirst } from '../terminal/confirm.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerWorktrees(program: Command): void {
  const group = program
    .command('worktrees')
    .description('List or remove the folders in which runs work on branches of their own')
    .addHelpText('after', `\nWithout a command, it lists them.`);
  const list = group
    .command('list', { isDefault: true })
    .description('List all, the one used last first');
  addLocationOptions(list).action(listAll);
  const remove = group
    .command('remove <id>')
    .description('Remove one with all that is not committed; its branch stays')
    .option('-y, --yes', 'do not ask first', false);
  addLocationOptions(remove).action(removeOne);
}

async function listAll(options: LocationOptions): Promise<void> {
  const kept = (await openStore(options)).list();
  const terminal = openTerminal(process, process.env);
  for (const worktree of kept) terminal.writeOut(`${lineOf(worktree)}\n`);
  if (kept.length === 0) terminal.write('There is no worktree.\n');
}

async function removeOne(
  id: string,
  options: LocationOptions & { readonly yes: boolean },
): Promise<void> {
  const store = await openStore(options);
  const worktree = store.list().find(({ conversationId }) => conversationId === id);
  if (worktree === undefined) {
    const shown = shortLine(id);
    throw new LocalError(
      'refused',
      `There is no worktree ${shown}: "worktrees list" shows the ids.`,
    );
  }
  if (!options.yes) {
    const terminal = openTerminal(process, process.env);
    terminal.writeOut(`${lineOf(worktree)}\n`);
    const unasked = '--yes removes it without asking.';
    const otherwise = 'Nothing was removed.';
    await askFirst(terminal, 'Remove it for good?', { unasked, otherwise });
  }
  await store.remove(id);
}

async function openStore(options: LocationOptions) {
  const { WorktreeStore } = await import('../../bridge/worktrees/store.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  return new WorktreeStore(projectDir);
}

function lineOf({ conversationId, branch, usedMs, savedMs = 0 }: KeptWorktree): string {
  const used = `used ${new Date(usedMs).toISOString()}`;
  const state = usedMs <= savedMs ? 'all committed' : 'may hold uncommitted work';
  const shown = shortLine(branch);
  return [conversationId, used, state, shown].join('  ');
}
