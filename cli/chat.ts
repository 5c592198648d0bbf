/** `drawbridge chat`: one prompt and its answer, or a conversation in the terminal. */
import { type Command, Option } from 'commander';
import { type Client, createClient } from '../client/client.ts';
import type { Device } from '../client/device.ts';
import { ClientError } from '../client/error.ts';
import { LocalError } from '../local/local-error.ts';
import { ConversationId } from '../shared/ids.ts';
import { Mode } from '../shared/modes.ts';
import { findTarget, type TargetOptions } from './chat-target.ts';
import { runTurn, type TurnEnd } from './chat-turn.ts';
import { addLocationOptions } from './location-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** As commander gives them. */
interface ChatOptions extends TargetOptions {
  readonly mode: Mode;
  readonly model?: string;
  readonly conversation?: string;
}

/** Everything a chat works with. The conversation is the one that goes on, once there is one. */
export interface Chat {
  readonly client: Client;
  /** This machine's key, where it is enrolled at the bridge. */
  readonly device: Device | null;
  readonly terminal: Terminal;
  readonly mode: Mode;
  readonly model: string | undefined;
  conversationId: string | undefined;
}

/** Adds the command. Its exit code: 0 completed, 1 ended in an error, 130 cancelled. */
export function registerChat(program: Command): void {
  const command = program
    .command('chat')
    .description('Talk to the agent; without a prompt, a conversation in the terminal')
    .argument('[prompt...]', 'what to do; read from stdin when that is not a terminal')
    .option('--url <url>', 'a Drawbridge elsewhere (default: the one that runs for the workspace)')
    .option('--token <token>', 'the bearer token for --url')
    .addOption(
      new Option('--mode <mode>', 'what the agent may do').choices(Mode.options).default('agent'),
    )
    .option('--model <name>', 'the model that answers')
    .option('--conversation <id>', 'go on with this conversation');
  addLocationOptions(command).action(async (prompt: string[], options: ChatOptions) => {
    const terminal = openTerminal(process.stdin, process.stdout, process.env);
    const chat = await openChat(options, terminal);
    process.exitCode = await runChat(chat, prompt.join(' '));
  });
}

/**
 * Talks until the prompt is answered or the person leaves, and resolves to the exit code.
 * @throws {UsageError} when there is nothing to say. @throws {LocalError} when the server cannot do it.
 */
export async function runChat(chat: Chat, prompt: string): Promise<number> {
  if (prompt.trim() === '' && chat.terminal.isInteractive) return await converse(chat);
  const message = prompt.trim() === '' ? await chat.terminal.readAll() : prompt;
  if (message.trim() === '') throw new UsageError('Nothing to say: give a prompt, or pipe one in.');
  try {
    return EXIT_CODES[await runTurn(chat, message)];
  } catch (error) {
    throw error instanceof ClientError ? toLocalError(error) : error;
  }
}

async function openChat(options: ChatOptions, terminal: Terminal): Promise<Chat> {
  const { mode, model, conversation: conversationId } = options;
  if (conversationId !== undefined && !ConversationId.safeParse(conversationId).success) {
    throw new UsageError(`--conversation takes an id like conv_…, not ${conversationId}.`);
  }
  const { url, token, device } = await findTarget(options);
  return { client: createClient({ url, token }), device, terminal, mode, model, conversationId };
}

const EXIT_CODES: Readonly<Record<TurnEnd, number>> = {
  completed: 0,
  error: 1,
  cancelled: 130,
  left: 130,
};

/** A failed turn is told and does not end the conversation. */
async function converse(chat: Chat): Promise<number> {
  const { terminal } = chat;
  terminal.write(`${terminal.paint('dim', 'Ctrl-C cancels an answer, Ctrl-D leaves.')}\n`);
  while (true) {
    const message = await terminal.ask(terminal.paint('bold', '> '));
    if (message === undefined) return 0;
    if (message.trim() === '') continue;
    try {
      const end = await runTurn(chat, message);
      if (end === 'left') return EXIT_CODES.left;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      terminal.write(`${terminal.paint('red', describe(error))}\n`);
    }
  }
}

function describe({ code, message }: ClientError): string {
  return `error ${code}: ${message}`;
}

function toLocalError(error: ClientError): LocalError {
  return new LocalError('failed', describe(error), { cause: error });
}
