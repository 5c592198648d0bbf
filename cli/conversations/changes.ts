/** The commands that change a conversation: rename, archive, unarchive, fork and delete. */

import type { Command } from 'commander';
import { createClient } from '../../client/index.ts';
import { ConversationPatch } from '../../shared/api/conversations.ts';
import { openChat } from '../chat/options.ts';
import { forkWithFiles } from '../chat/undo-command.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { parseConversationId, parseResponseId } from '../target/typed-ids.ts';
import { askFirst } from '../terminal/confirm.ts';
import { printOut } from '../terminal/print.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Adds the subcommands except `delete`. Only `fork` prints something: the id of the new conversation. */
export function registerChanges(group: Command): void {
  const rename = group
    .command('rename <id> <title...>')
    .description('Change the title of a conversation');
  addTargetOptions(rename).action(
    async (id: string, words: readonly string[], options: TargetOptions) => {
      await update(id, { title: words.join(' ') }, options);
    },
  );
  const archive = group.command('archive <id>').description('Hide a conversation from the list');
  addTargetOptions(archive).action(async (id: string, options: TargetOptions) => {
    await update(id, { archived: true }, options);
  });
  const unarchive = group
    .command('unarchive <id>')
    .description('Show an archived conversation in the list again');
  addTargetOptions(unarchive).action(async (id: string, options: TargetOptions) => {
    await update(id, { archived: false }, options);
  });
  const fork = group
    .command('fork <id> <response-id>')
    .description('Copy a conversation, up to the end of this response, into a new one');
  fork.option('--files', 'take back what later responses changed in files, after a preview', false);
  addTargetOptions(fork).action(
    async (id: string, responseId: string, options: ForkCommandOptions) => {
      const from = [parseConversationId(id), parseResponseId(responseId)] as const;
      if (options.files) {
        const terminal = openTerminal(process, process.env);
        if (!terminal.isInteractive) throw new UsageError('--files asks at a terminal.');
        const settings = { ...options, mode: 'agent', reasoning: false, json: false };
        const chat = await openChat({ ...settings, conversation: from[0] }, terminal);
        process.exitCode = await forkWithFiles(chat, from[1]);
        return;
      }
      const client = createClient(await findTarget(options));
      const { conversationId } = await client.forkConversation(...from);
      printOut(`${conversationId}\n`);
    },
  );
}

interface ForkCommandOptions extends TargetOptions {
  readonly files: boolean;
}

async function update(id: string, patch: ConversationPatch, options: TargetOptions): Promise<void> {
  const conversationId = parseConversationId(id);
  const { data, error } = ConversationPatch.safeParse(patch);
  if (!data) throw new UsageError(`The title is not valid: ${error.issues[0]?.message}`);
  const client = createClient(await findTarget(options));
  await client.updateConversation(conversationId, data);
}

interface DeleteOptions extends TargetOptions {
  readonly yes: boolean;
}

/** Adds `delete`, the one change that cannot be undone. */
export function registerDelete(group: Command): void {
  const command = group
    .command('delete <id>')
    .description('Delete a conversation with all its content, and cancel its answers in progress')
    .option('-y, --yes', 'do not ask first', false);
  addTargetOptions(command).action(async (id: string, options: DeleteOptions) => {
    const conversationId = parseConversationId(id);
    if (!options.yes) await confirm(openTerminal(process, process.env), conversationId);
    await createClient(await findTarget(options)).deleteConversation(conversationId);
  });
}

/** Returns only after a clear yes. @throws {UsageError} without a terminal; {LocalError} after another answer. */
export async function confirm(terminal: Terminal, conversationId: string): Promise<void> {
  await askFirst(terminal, `Delete ${conversationId} with everything in it?`, {
    unasked: '--yes deletes without asking.',
    otherwise: 'Nothing was deleted.',
  });
}
