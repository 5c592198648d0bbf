/** `drawbridge undo` and `redo`: shows what would be taken back, asks, and takes it back. */

import { type Command, Option } from 'commander';
import type { UndoInput } from '../../client/index.ts';
import { parseResponseId, responseIdOf } from '../../shared/ids.ts';
import { addTargetOptions, type TargetOptions } from '../target/target.ts';
import { askFirst } from '../terminal/confirm.ts';
import { printOut } from '../terminal/print.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { Chat } from './chat.ts';
import { openChat } from './options.ts';
import { EXIT_CODES } from './run-chat.ts';
import { joinTurn, runUndo } from './turn.ts';
import { CHANGE_FILES, changesFiles, reportIn } from './undo.ts';

interface UndoOptions extends TargetOptions {
  readonly conversation?: string;
  readonly call?: string;
  readonly response?: string;
  readonly since?: string;
  readonly preview: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

export function registerUndo(program: Command): void {
  const undo = program
    .command('undo')
    .description("Undo the agent's changes of files: the newest ones, or those that you name")
    .addOption(
      new Option('--call <id>', 'only the changes of this call (its toolCallId)').conflicts([
        'response',
        'since',
      ]),
    )
    .addOption(
      new Option('--response <id>', 'only the changes of this response').conflicts('since'),
    )
    .option('--since <response-id>', 'the changes of this response and all later ones');
  addOptions(undo).action(async (options: UndoOptions) => {
    const { call, response, since } = options;
    const named = Object.entries({ call, response, since }).find(([, id]) => id !== undefined);
    const [scope, id] = (named ?? ['last']) as ['call' | 'response' | 'since' | 'last', string?];
    await run(options, id === undefined ? { scope } : { scope, id });
  });
  const redo = program.command('redo').description('Take back the newest undo');
  addOptions(redo).action(async (options: UndoOptions) => await run(options, { scope: 'redo' }));
}

function addOptions(command: Command): Command {
  command
    .option('--conversation <id>', 'the conversation (default: the most recently answered one)')
    .addOption(new Option('--preview', 'only show what would change').default(false))
    .addOption(new Option('--yes', 'do not ask').default(false).conflicts('preview'))
    .option('--json', 'print each event to stdout as a line of JSON', false);
  return addTargetOptions(command);
}

async function run(options: UndoOptions, wanted: UndoInput): Promise<void> {
  const terminal = openTerminal(process, process.env, { machine: options.json });
  if (!options.yes && !options.preview && !terminal.isInteractive) {
    throw new UsageError('There is no terminal to ask at: add --yes, or --preview to look first.');
  }
  const newest = options.conversation === undefined ? { continue: true } : {};
  const settings = { reasoning: false, ...options, mode: 'agent', ...newest };
  const chat = await openChat(settings, terminal);
  process.exitCode = await undo(chat, options, wanted);
}

/** Shows what later responses changed, asks, and forks with the files restored: the exit code. @throws {LocalError} */
export async function forkWithFiles(chat: Chat, responseId: string): Promise<number> {
  const { client, terminal, conversationId = '' } = chat;
  const id = responseIdOf(conversationId, parseResponseId(responseId).ordinal + 1);
  // Where no file was changed since, the preview is a failed response; for a fork, nothing failed.
  const held: (() => void)[] = [];
  const holding: typeof terminal = {
    ...terminal,
    write: (text) => void held.push(() => terminal.write(text)),
    writeOut: (text) => void held.push(() => terminal.writeOut(text)),
  };
  const wanted = { scope: 'since', id, preview: true } as const;
  const { end, response } = await runUndo({ ...chat, terminal: holding }, wanted);
  const isEmpty = response?.documents.some(
    ({ metadata }) => metadata['errorCode'] === 'NOTHING_TO_UNDO',
  );
  if (isEmpty) terminal.write('No file was changed since.\n');
  else for (const show of held) show();

  const report = end === 'completed' ? reportIn(response) : undefined;
  if (!report && !isEmpty) return EXIT_CODES[end];
  if (report && changesFiles(report)) await askToChange(chat, 'Nothing was forked.');
  const fork = report && ({ files: 'restore', digest: report.digest } as const);
  const made = await client.forkConversation(conversationId, responseId, fork);
  printOut(`${made.conversationId}\n`);
  if (made.responseId === undefined) return EXIT_CODES.completed;
  const forked = { ...chat, conversationId: made.conversationId };
  return EXIT_CODES[await joinTurn(forked, made.responseId)];
}

/** Resolves to the exit code. @throws {LocalError} after a no. */
export async function undo(
  chat: Chat,
  { yes, preview }: Pick<UndoOptions, 'yes' | 'preview'>,
  wanted: UndoInput,
): Promise<number> {
  if (yes) return EXIT_CODES[(await runUndo(chat, wanted)).end];
  const { end, response } = await runUndo(chat, { ...wanted, preview: true });
  const report = end === 'completed' ? reportIn(response) : undefined;
  if (preview || !report || !changesFiles(report)) return EXIT_CODES[end];
  await askToChange(chat, 'Nothing was changed.');
  return EXIT_CODES[(await runUndo(chat, { ...wanted, digest: report.digest })).end];
}

async function askToChange({ terminal }: Chat, otherwise: string): Promise<void> {
  await askFirst(terminal, CHANGE_FILES, { unasked: 'add --yes', otherwise });
}
