/** `drawbridge help`: the help of a command, or a page about something else. */

import type { Command } from 'commander';
import { CHAT_EXIT_HELP, EXIT_HELP } from '../terminal/exit-codes.ts';
import { printOut } from '../terminal/print.ts';
import { nameAdvice } from '../terminal/usage-error.ts';
import { examplesOf } from './examples.ts';
import { TOPICS } from './topics.ts';

/** Registers the command, and completes the help of all others. Called when all others are registered. */
export function registerHelp(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('Show the help of a command, or a page on a topic')
    .argument('[topic...]', `a command such as "config set", or ${Object.keys(TOPICS).join(', ')}`)
    .action((words: string[]) => {
      const topic = words.length === 1 ? TOPICS[words[0] ?? ''] : undefined;
      if (topic) printOut(topic.text);
      else commandOf(program, words).outputHelp();
    });
  program.addHelpText('after', WITHOUT_COMMAND);
  const topics = Object.entries(TOPICS).map(
    ([name, { summary }]) => `  ${name.padEnd(12)}  ${summary}\n`,
  );
  program.addHelpText('after', `\nMore pages, by drawbridge help TOPIC:\n${topics.join('')}`);
  for (const command of program.commands) completeHelp(command, []);
}

const WITHOUT_COMMAND = `
Without a command, it does what "here" does, and takes its options:
  drawbridge --continue`;

/** The commands that show an answer as it comes: their exit codes say how it ended. */
const FOLLOWING: ReadonlySet<string> = new Set([
  'chat',
  'plan execute',
  'plan save',
  'agents follow',
]);

/** Adds exit codes and examples below the command's own texts. */
function completeHelp(command: Command, above: readonly string[]): void {
  const path = [...above, command.name()];
  const name = path.join(' ');
  const own = command.commands.length > 0 ? [] : examplesOf(name, command);
  const lines = own.map((line) => `  drawbridge ${line}\n`).join('');
  const examples = lines === '' ? '\n' : `\nExamples:\n${lines}\n`;
  command
    .addHelpText('after', FOLLOWING.has(name) ? CHAT_EXIT_HELP : EXIT_HELP)
    .addHelpText(
      'after',
      `${examples}See also: drawbridge help files, drawbridge help environment`,
    );
  for (const sub of command.commands) completeHelp(sub, path);
}

function commandOf(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const sub = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    const topics = command === program ? Object.keys(TOPICS) : [];
    const shown = command.createHelp().visibleCommands(command);
    const known = [...shown.map((each) => each.name()), ...topics];
    if (!sub) command.error(`there is no help on '${word}': ${nameAdvice(word, known)}`);
    command = sub ?? command;
  }
  return command;
}
