/** `drawbridge conversations delete`: the one change that cannot be undone. */
import type { Command } from 'commander';
import { createClient } from '../../client/client.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target.ts';
import { askFirst } from '../terminal/confirm.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { parseConversationId } from './id.ts';

interface DeleteOptions extends TargetOptions {
  readonly yes: boolean;
}

export function registerDelete(group: Command): void {
  const command = group
    .command('delete <id>')
    .description('Delete one with everything in it, and end what is at work there')
    .option('-y, --yes', 'without asking', false);
  addTargetOptions(command).action(async (id: string, options: DeleteOptions) => {
    const conversationId = parseConversationId(id);
    if (!options.yes) await confirm(openTerminal(process, process.env), conversationId);
    await createClient(await findTarget(options)).deleteConversation(conversationId);
  });
}

/**
 * Returns only after a clear yes.
 * @throws {UsageError} where nobody can be asked. @throws {LocalError} after anything else than a yes.
 */
export async function confirm(terminal: Terminal, conversationId: string): Promise<void> {
  await askFirst(terminal, `Delete ${conversationId} with everything in it?`, {
    unasked: '--yes deletes without asking.',
    otherwise: 'Nothing was deleted.',
  });
}
