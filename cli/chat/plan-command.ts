/** `drawbridge plan`: has the agent carry out a plan, of a conversation or of a file, or saves one as a file. */
import { type Command, Option } from 'commander';
import type { Client } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { isPlan } from '../../shared/wire/fold.ts';
import { addTargetOptions, type TargetOptions } from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal } from '../terminal/terminal.ts';
import type { Chat } from './chat.ts';
import { openChat } from './options.ts';
import { EXIT_CODES } from './run-chat.ts';
import { executePlan, executePlanFile, type NewestPlan, savePlan } from './turn.ts';

interface PlanCommandOptions extends TargetOptions {
  readonly conversation?: string;
  readonly json: boolean;
}

interface ExecuteOptions extends PlanCommandOptions {
  readonly mode: 'agent' | 'debug';
  readonly model?: string;
  readonly file?: string;
  readonly reasoning: boolean;
}

interface SaveOptions extends PlanCommandOptions {
  readonly name?: string;
}

export function registerPlan(program: Command): void {
  const group = program.command('plan').description('Work with the plan of a conversation');
  const execute = group
    .command('execute')
    .description('Carry out the plan, or continue it after a failure')
    .addOption(
      new Option('--mode <mode>', 'how the agent works')
        .choices(['agent', 'debug'])
        .default('agent'),
    )
    .option('--model <name>', 'the model that carries it out')
    .option('--conversation <id>', 'the conversation (default: the most recently answered one)')
    .option('--file <path>', 'the plan in this file of the workspace, in a new conversation')
    .option('--reasoning', "show the model's reasoning, if the model sends it", false)
    .option('--json', 'print each event to stdout as a line of JSON; ask no questions', false);
  addTargetOptions(execute).action(async (options: ExecuteOptions) => {
    const { mode, file } = options;
    if (file !== undefined) {
      const terminal = openTerminal(process, process.env, { machine: options.json });
      const chat = await openChat(options, terminal);
      process.exitCode = EXIT_CODES[await executePlanFile({ ...chat, mode }, file)];
      return;
    }
    const { chat, plan } = await openPlan(options, mode);
    process.exitCode = EXIT_CODES[await executePlan({ ...chat, mode }, plan)];
  });
  registerSave(group);
}

function registerSave(group: Command): void {
  const save = group
    .command('save')
    .description('Save the plan in .cursor/plans of the workspace')
    .option('--name <name>', "the file's name, without .plan.md (default: made of the title)")
    .option('--conversation <id>', 'the conversation (default: the most recently answered one)')
    .option('--json', 'print each event to stdout as a line of JSON; ask no questions', false);
  addTargetOptions(save).action(async (options: SaveOptions) => {
    const { chat, plan } = await openPlan(options, 'agent');
    process.exitCode = EXIT_CODES[await savePlan(chat, plan, options.name)];
  });
}

/** The chat with the newest plan of the conversation that the options name. */
async function openPlan(
  options: PlanCommandOptions & { readonly reasoning?: boolean },
  mode: string,
): Promise<{ readonly chat: Chat; readonly plan: NewestPlan }> {
  const terminal = openTerminal(process, process.env, { machine: options.json });
  const isNamed = options.conversation !== undefined;
  const settings = { reasoning: false, ...options, mode, ...(!isNamed && { continue: true }) };
  const chat = await openChat(settings, terminal);
  return { chat, plan: await findPlan(chat.client, chat.conversationId ?? '', chat.targetWords) };
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
