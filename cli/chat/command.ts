/** `drawbridge chat`: reads its options and opens the chat. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createClient } from '../../client/index.ts';
import { readSettings } from '../../local/config/settings.ts';
import { BUDGET_LIMITS, PRIVACY_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import { SECOND } from '../../shared/units.ts';
import { ModeName } from '../../shared/wire/definitions.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { bridgeForNew, lastConversation, requireHere } from '../target/own-bridge.ts';
import {
  addTargetOptions,
  findTarget,
  type TargetOptions,
  targetWordsOf,
} from '../target/target.ts';
import { parseConversationId } from '../target/typed-ids.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import type { Chat } from './chat.ts';
import { readImage } from './image-file.ts';
import { runChat } from './run-chat.ts';

/** The options as commander parses them. */
export interface ChatOptions extends TargetOptions {
  readonly mode?: string;
  readonly questions?: 'ask' | 'never' | 'default' | 'stop';
  readonly answerWithin?: number;
  readonly model?: string;
  readonly maxTurns?: number;
  readonly deleteAfter?: number;
  readonly conversation?: string;
  readonly continue?: boolean;
  readonly image?: readonly string[];
  readonly reasoning: boolean;
  readonly json: boolean;
}

export function registerChat(program: Command): void {
  const command = program
    .command('chat')
    .description('Give the agent a prompt; without one, talk to it in the terminal')
    .argument('[prompt...]', 'what to do; text from stdin is added below it')
    .addOption(
      new Option(
        '--mode <mode>',
        `${Mode.options.join(', ')}, or a mode of the workspace (default: your setting, else agent)`,
      ).argParser(parseMode),
    )
    .addOption(
      new Option('--questions <policy>', QUESTIONS_HELP).choices([
        'ask',
        'never',
        'default',
        'stop',
      ]),
    )
    .option(
      '--answer-within <seconds>',
      'how long a question waits for an answer',
      wholeNumber(1, RUN_LIMITS.approvalMs / SECOND),
    )
    .option('--model <name>', 'the model that answers')
    .option(
      '--max-turns <n>',
      'how many requests to the model the answer may take',
      wholeNumber(1, BUDGET_LIMITS.maxTurns),
    )
    .addOption(deleteAfterOption().conflicts(['conversation', 'continue']))
    .option('--conversation <id>', 'continue this conversation')
    .addOption(
      new Option(
        '--continue',
        'continue the most recently answered conversation of this folder',
      ).conflicts('conversation'),
    )
    .option('--image <file>', 'send this image with the prompt; repeat it for more', collect)
    .option('--reasoning', "show the model's reasoning, if the model sends it", false)
    .option('--json', 'print each event to stdout as a line of JSON; ask no questions', false);
  addTargetOptions(command)
    .addHelpText('after', PIPES_HELP)
    .action(async (words: string[], options: ChatOptions) => {
      const terminal = openTerminal(process, process.env, { machine: options.json });
      process.exitCode = await runChat(await openChat(options, terminal), words);
    });
}

/** Of the commands that begin a conversation. */
export function deleteAfterOption(): Option {
  const help = 'make it private: delete its text this long after the last answer';
  const parse = wholeNumber(0, PRIVACY_LIMITS.maxHours);
  return new Option('--delete-after <hours>', help).argParser(parse);
}

const QUESTIONS_HELP =
  'when the agent has a question: ask; never let it ask; or, without an answer, take the first options (default) or stop';

function parseMode(name: string): string {
  if (ModeName.safeParse(name).success) return name;
  throw new InvalidArgumentError('A mode has lower-case letters, digits and hyphens.');
}

/** What the request says of questions; undefined where the options say nothing. */
function policyOf({ questions, answerWithin }: ChatOptions): Chat['questions'] {
  if (questions === undefined && answerWithin === undefined) return undefined;
  return {
    allowed: questions !== 'never',
    ...(answerWithin !== undefined && { afterSeconds: answerWithin }),
    ...((questions === 'default' || questions === 'stop') && { otherwise: questions }),
  };
}

const PIPES_HELP = `
If stdout is not a terminal, it gets only the answer, and stderr gets the rest.
With a prompt, chat waits up to 3 seconds for text on stdin; add "-" to the
prompt to wait for it without a limit.`;

function collect(file: string, files: readonly string[] = []): string[] {
  return [...files, file];
}

/** The chat that the options describe. */
export async function openChat(options: ChatOptions, terminal: Terminal): Promise<Chat> {
  const { mode } = await readSettings(process.env, { mode: options.mode });
  const { model, maxTurns, deleteAfter, conversation, image: files = [] } = options;
  const named = conversation === undefined ? undefined : parseConversationId(conversation);
  const images = await Promise.all(files.map(readImage));
  const target = await findTarget(options);
  const { device, own } = target;
  const client = createClient(target);
  const conversationId = options.continue ? await lastConversation(client, target) : named;
  if (named !== undefined) await requireHere(client, target, named);
  return {
    client,
    device,
    own,
    terminal,
    format: options.json ? 'json' : 'text',
    mode,
    model,
    questions: policyOf(options),
    maxTurns,
    deleteAfterHours: deleteAfter,
    withReasoning: options.reasoning,
    images,
    targetWords: targetWordsOf(options),
    conversationId,
    ...(conversationId === undefined && { bridgeId: await bridgeForNew(client, target) }),
  };
}
