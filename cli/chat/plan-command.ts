/** `drawbridge plan execute`: has the agent carry out the newest plan of a conversation. */
import { type Command, Option } from 'commander';
import type { Client } from '../../client/client.ts';
import { LocalError } from '../../machine/local-error.ts';
import { isPlan } from '../../shared/fold.ts';
import { addTargetOptions, type TargetOptions } from '../target/target.ts';
import { CHAT_EXIT_HELP } from '../terminal/exit-codes.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { openChat } from './command.ts';
import { EXIT_CODES } from './run-chat.ts';
import { executePlan, type NewestPlan } from './turn.ts';

interface ExecuteOptions extends TargetOptions {
  readonly mode: 'agent' | 'debug';
  readonly model?: string;
  readonly conversation?: string;
  readonly reasoning: boolean;
  readonly json: boolean;
}

export function registerPlan(program: Command): void {
  const group = program.command('plan').description('Work with the plan of a conversation');
  const execute = group
    .command('execute')
    .description('Carry out the plan; after a failure, go on where it stopped')
    .addOption(
      new Option('--mode <mode>', 'how the agent works')
        .choices(['agent', 'debug'])
        .default('agent'),
    )
    .option('--model <name>', 'the model that carries it out')
    .option('--conversation <id>', 'the conversation (default: the most recently answered one)')
    .option('--reasoning', "show the model's reasoning, if the model sends it", false)
    .option('--json', 'print each event to stdout as a line of JSON; ask no questions', false)
    .addHelpText('after', CHAT_EXIT_HELP);
  addTargetOptions(execute).action(async (options: ExecuteOptions) => {
    const terminal = openTerminal(process, process.env, { machine: options.json });
    const isNamed = options.conversation !== undefined;
    const chat = await openChat({ ...options, ...(!isNamed && { continue: true }) }, terminal);
    const plan = await findPlan(chat.client, chat.conversationId ?? '', chat.targetWords);
    process.exitCode = EXIT_CODES[await executePlan({ ...chat, mode: options.mode }, plan)];
  });
}

/** Reads the conversation from its end, part by part. @throws {LocalError} if it has no plan. */
export async function findPlan(
  client: Pick<Client, 'getConversation'>,
  conversationId: string,
  targetWords: readonly string[] = [],
): Promise<NewestPlan> {
  for (let before: string | undefined | null; before !== null; ) {
    const query = before === undefined ? {} : { before };
    const { responses, earlier } = await client.getConversation(conversationId, query);
    for (const { id: responseId, documents } of responses.toReversed()) {
      const plan = documents.findLast(isPlan);
      if (plan) return { conversationId, responseId, documentId: plan.id };
    }
    before = earlier;
  }
  throw new LocalError(
    'failed',
    `There is no plan in ${conversationId}: ask for one with \`${ownCommand('chat', '--mode', 'plan', ...targetWords)}\`.`,
  );
}
