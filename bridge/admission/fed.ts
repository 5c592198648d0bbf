/** Finds the commands of a line whose input another command writes. */
import type { Command, CommandLine } from './command-line.ts';

/**
 * The commands behind a pipe that may do what their input says (`sh`, `xargs rm`, `psql`): what the command itself shows
 * is not all that it does. Every command after the first pipe counts, because a group shares its input.
 */
export function fedCommands({ parts }: Pick<CommandLine, 'parts'>): ReadonlySet<Command> {
  const first = parts.findIndex((part) => part === '|' || part === '|&');
  const behind = first < 0 ? [] : parts.slice(first).filter((part) => typeof part !== 'string');
  return new Set(behind.filter(({ words: [name = ''] }) => !FILTERS.has(name)));
}

/** Their input is only text to them. */
const FILTERS: ReadonlySet<string> = new Set(
  'cat column cut egrep fgrep fold grep head jq nl rev rg sort tac tail tr uniq wc'.split(' '),
);
