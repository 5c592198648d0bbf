/** The words that can stand on a command line, taken from commander's own tree. */
import type { Command, Option } from 'commander';
import { shellWord } from '../../machine/shell-word.ts';

/** What may follow an option: nothing, one of some words, a path, or a text that no shell can know. */
export type Value =
  | { readonly kind: 'none' | 'path' | 'text' }
  | { readonly kind: 'choice'; readonly words: readonly string[] };

export interface OptionWords {
  /** `--mode`, and a short form if there is one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly value: Value;
}

/** A command or a group of commands. */
export interface CommandWords {
  /** From the program's name on: `drawbridge config set`. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** The words that its arguments can be, if they are known. */
  readonly choices: readonly string[];
}

/** The command and everything below it, itself first. */
export function wordsOf(command: Command, above = ''): CommandWords[] {
  const path = above === '' ? command.name() : `${above} ${command.name()}`;
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const own = {
    path,
    subcommands: subcommands.map((sub) => ({
      name: sub.name(),
      description: help.subcommandDescription(sub),
    })),
    options: help.visibleOptions(command).map(optionWords),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  };
  return [own, ...subcommands.flatMap((sub) => wordsOf(sub, path))];
}

function optionWords(option: Option): OptionWords {
  const names = [option.long, option.short].filter((name) => name !== undefined && name !== null);
  return { names, description: option.description, value: valueWords(option) };
}

/** The help writes `<file>` and `<folder>` for paths. */
function valueWords({ required, optional, argChoices, flags }: Option): Value {
  if (argChoices) return { kind: 'choice', words: argChoices };
  if (!required && !optional) return { kind: 'none' };
  return { kind: /<(?:file|folder)>/.test(flags) ? 'path' : 'text' };
}

/** The pattern of a `case` of bash and zsh that knows every command below the program. */
export function stepsOf(commands: readonly CommandWords[]): string {
  const paths = commands.slice(1).map(({ path }) => shellWord(path));
  return paths.join('|');
}
