/** `drawbridge help`: the help of a command, or a page about something else. */
import { EventEmitter } from 'node:events';
import type { Command } from 'commander';
import { EXIT_HELP } from '../terminal/exit-codes.ts';
import { nameAdvice } from '../terminal/usage-error.ts';
import { EXAMPLES } from './examples.ts';
import { TOPICS } from './topics.ts';

/** Registers the command, and completes the help of all others. Called when all others are registered. */
export function registerHelp(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('Show the help of a command, or a page on a topic')
    .argument('[topic...]', `a command such as "config set", or ${Object.keys(TOPICS).join(', ')}`)
    .action((words: string[]) => showHelp(program, words));
  program.addHelpText('after', WITHOUT_COMMAND);
  program.addHelpText('after', `\nMore pages, by drawbridge help TOPIC:\n${topicLines()}`);
  for (const command of program.commands) completeHelp(command, []);
}

const WITHOUT_COMMAND = `
Without a command, it does what "open" does, and takes its options:
  drawbridge --continue`;

function topicLines(): string {
  return Object.entries(TOPICS)
    .map(([name, { summary }]) => `  ${name.padEnd(12)}  ${summary}\n`)
    .join('');
}

/** Exit codes, unless the command tells its own, then examples. */
function completeHelp(command: Command, above: readonly string[]): void {
  const path = [...above, command.name()];
  const examples = EXAMPLES[path.join(' ')] ?? [];
  const lines = examples.map((line) => `  drawbridge ${line}\n`).join('');
  // Its types leave out that a command is an emitter. A command with texts of its own has its exit codes in them.
  const hasOwn = command instanceof EventEmitter && command.listenerCount('afterHelp') > 0;
  if (!hasOwn) command.addHelpText('after', EXIT_HELP);
  if (lines !== '') command.addHelpText('after', `\nExamples:\n${lines}`);
  command.addHelpText(
    'after',
    `${lines === '' ? '\n' : ''}See also: drawbridge help files, drawbridge help environment`,
  );
  for (const sub of command.commands) completeHelp(sub, path);
}

function showHelp(program: Command, words: readonly string[]): void {
  const topic = words.length === 1 ? TOPICS[words[0] ?? ''] : undefined;
  if (topic) process.stdout.write(topic.text);
  else commandOf(program, words).outputHelp();
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
