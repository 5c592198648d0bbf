/** `drawbridge undo` and `redo`: shows what would be taken back, asks, and takes it back. */
import { type Command, Option } from 'commander';
import type { UndoInput } from '../../client/index.ts';
import { parseResponseId, responseIdOf } from '../../shared/ids.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { UndoReport } from '../../shared/wire/undo.ts';
import { addTargetOptions, type TargetOptions } from '../target/target.ts';
import { askFirst } from '../terminal/confirm.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { Chat } from './chat.ts';
import { openChat } from './command.ts';
import { EXIT_CODES } from './run-chat.ts';
import { runUndo } from './turn.ts';

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
    .description('Take back what the agent changed in files: its newest changes, or what you name')
    .addOption(new Option('--call <id>', 'what this call changed').conflicts(['response', 'since']))
    .addOption(new Option('--response <id>', 'what this response changed').conflicts('since'))
    .option('--since <response-id>', 'what this response and all later ones changed');
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

/** Takes back what the later responses of the conversation changed, after a look and a question. */
export async function undoAfter(
  conversation: string,
  responseId: string,
  options: TargetOptions,
): Promise<void> {
  const id = responseIdOf(conversation, parseResponseId(responseId).ordinal + 1);
  const undone = { ...options, conversation, yes: false, preview: false, json: false };
  await run(undone, { scope: 'since', id });
}

/** Resolves to the exit code. @throws {LocalError} after a no. */
export async function undo(
  chat: Chat,
  { yes, preview }: Pick<UndoOptions, 'yes' | 'preview'>,
  wanted: UndoInput,
): Promise<number> {
  if (yes) return EXIT_CODES[await runUndo(chat, wanted)];
  let report: UndoReport | undefined;
  const onEvent = (event: StreamEvent) => {
    const metadata = event.type === 'document_end' ? event.metadata : undefined;
    report = UndoReport.safeParse(metadata?.['undo']).data ?? report;
  };
  const end = await runUndo({ ...chat, onEvent }, { ...wanted, preview: true });
  const changes = report?.files.some(({ action }) => action !== 'keep') ?? false;
  if (preview || end !== 'completed' || !changes) return EXIT_CODES[end];
  const words = { unasked: 'add --yes', otherwise: 'Nothing was changed.' };
  await askFirst(chat.terminal, 'Change these files?', words);
  const digest = report?.digest ?? '';
  return EXIT_CODES[await runUndo(chat, { ...wanted, digest })];
}
