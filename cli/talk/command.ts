/** `drawbridge chat`. */
import { type Command, Option } from 'commander';
import { BUDGET_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import { SECOND } from '../../shared/units.ts';
import { type ChatOptions, deleteAfterOption, modeOption, openChat } from '../chat/options.ts';
import { addTargetOptions } from '../target/target.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { talk } from './talk.ts';

export function registerChat(program: Command): void {
  const command = program
    .command('chat')
    .description('Give the agent a prompt; without one, talk to it in the terminal')
    .argument('[prompt...]', 'what to do; text from stdin is added below it')
    .addOption(modeOption())
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
      'the most requests to the model for the answer',
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
    .option(
      '--image <file>',
      'send this image with the prompt; repeat it for more',
      (file, files: readonly string[] = []) => [...files, file],
    )
    .option('--reasoning', "show the model's reasoning, if the model sends it", false)
    .option('--json', 'print each event to stdout as a line of JSON; ask no questions', false);
  addTargetOptions(command)
    .addHelpText('after', PIPES_HELP)
    .action(async (words: string[], options: ChatOptions) => {
      const terminal = openTerminal(process, process.env, { machine: options.json });
      process.exitCode = await talk(await openChat(options, terminal), { words, isOnce: true });
    });
}

const QUESTIONS_HELP =
  'ask: wait for your answer; never: the agent asks nothing; default, stop: without an answer, take the first options or stop';

const PIPES_HELP = `
If stdout is not a terminal, it gets only the answer, and stderr gets the rest.
With a prompt, chat waits up to 3 seconds for text on stdin; add "-" to the
prompt to wait for it without a limit.`;
