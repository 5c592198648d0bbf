/** The command line before it has commands: how it reports its errors, and unknown words. */
import { Command } from 'commander';
import { OWN_VERSION } from '../../local/own-root.ts';
import { complain } from './failure-text.ts';
import { nameAdvice } from './usage-error.ts';

/** Without commands. */
export function newCommandLine(): Command {
  return (
    new Command('drawbridge')
      .description(
        'A coding agent behind an API. It works in a folder on your machine, under your rules.',
      )
      .version(OWN_VERSION)
      // Set before the subcommands are added: they inherit both.
      .exitOverride()
      .configureOutput({
        outputError: (message) =>
          complain(
            message
              .replace(/^error: /, '')
              .trim()
              .replaceAll('\n', ' '),
          ),
      })
  );
}

/** Called when all commands are registered. */
export function refuseUnknownWords(program: Command): void {
  for (const group of [program, ...program.commands]) refuseUnknownWord(group);
}

/** Commander suggests nothing here: it gives an unknown word to the group's default command. */
function refuseUnknownWord(group: Command): void {
  group.hook('preSubcommand', () => {
    const [word = '-'] = group.args;
    // A sentence is the prompt of the default command.
    if (/^-|\s/.test(word) || group.commands.some((command) => command.name() === word)) return;
    const names = group
      .createHelp()
      .visibleCommands(group)
      .map((command) => command.name());
    group.error(`unknown command '${word}' of ${group.name()}: ${nameAdvice(word, names)}`);
  });
}
