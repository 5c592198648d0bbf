/** `drawbridge chat`: its options, and the chat they ask for. */
import { type Command, Option } from 'commander';
import { createClient } from '../../client/client.ts';
import { LocalError } from '../../machine/local-error.ts';
import { Mode } from '../../shared/modes.ts';
import {
  addTargetOptions,
  findTarget,
  type TargetOptions,
  targetWordsOf,
} from '../target/target.ts';
import { parseConversationId } from '../target/typed-ids.ts';
import { CHAT_EXIT_HELP } from '../terminal/exit-codes.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import type { Chat } from './chat.ts';
import { readImage } from './image-file.ts';
import { runChat } from './run-chat.ts';

/** As commander gives them. */
interface ChatOptions extends TargetOptions {
  readonly mode: Mode;
  readonly model?: string;
  readonly conversation?: string;
  readonly continue?: boolean;
  readonly image?: readonly string[];
  readonly reasoning: boolean;
  readonly json: boolean;
}

export function registerChat(program: Command): void {
  const command = program
    .command('chat')
    .description('Talk to the agent; without a prompt, a conversation in the terminal')
    .argument('[prompt...]', 'what to do; what is piped in is put below it')
    .addOption(
      new Option('--mode <mode>', 'what the agent may do').choices(Mode.options).default('agent'),
    )
    .option('--model <name>', 'the model that answers')
    .option('--conversation <id>', 'go on with this conversation')
    .addOption(
      new Option('--continue', 'go on with the conversation that was answered last').conflicts(
        'conversation',
      ),
    )
    .option('--image <file>', 'an image to send along; may be given again', collect)
    .option('--reasoning', 'show what the model thinks, where it tells', false)
    .option('--json', 'every event as one line of JSON on stdout; asks no questions', false);
  addTargetOptions(command)
    .addHelpText('after', `${PIPES_HELP}${CHAT_EXIT_HELP}`)
    .action(async (words: string[], options: ChatOptions) => {
      const terminal = openTerminal(process, process.env, { machine: options.json });
      process.exitCode = await runChat(await openChat(options, terminal), words);
    });
}

const PIPES_HELP = `
Where stdout is not a terminal it gets the answer alone, and stderr the rest.
Text piped in beside a prompt has to begin within 3 seconds; with "-" as a word
of the prompt it is waited for.
`;

function collect(file: string, files: readonly string[] = []): string[] {
  return [...files, file];
}

async function openChat(options: ChatOptions, terminal: Terminal): Promise<Chat> {
  const { mode, model, conversation, image: files = [] } = options;
  const named = conversation === undefined ? undefined : parseConversationId(conversation);
  const images = await Promise.all(files.map(readImage));
  const { url, token, device } = await findTarget(options);
  const client = createClient({ url, token });
  return {
    client,
    device,
    terminal,
    format: options.json ? 'json' : 'text',
    mode,
    model,
    withReasoning: options.reasoning,
    images,
    targetWords: targetWordsOf(options),
    conversationId: options.continue ? await findLast(client) : named,
  };
}

async function findLast(client: Chat['client']): Promise<string> {
  const { items } = await client.listConversations({ limit: 1 });
  if (items[0]) return items[0].id;
  throw new LocalError('failed', 'There is no conversation to go on with.');
}
