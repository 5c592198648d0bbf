/** All slash commands. */

import { shortLine } from '../../terminal/short-line.ts';
import { nameAdvice } from '../../terminal/usage-error.ts';
import { AGENTS } from './agents.ts';
import { CHANGES } from './changes.ts';
import type { CommandDesk, SlashCommand } from './command.ts';
import { CONVERSATIONS } from './conversations.ts';
import { FACTS } from './facts.ts';
import { HANDS } from './hands.ts';
import { KEYS } from './keys.ts';
import { PROCESSES } from './processes.ts';
import { SETTINGS } from './settings.ts';

export const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    help: 'List the commands and keys',
    run: (_, { say }) => say(helpText()),
  },
  ...[...SETTINGS, ...CONVERSATIONS, ...CHANGES, ...AGENTS, ...PROCESSES, ...FACTS, ...HANDS],
];

/** The name of a line that begins with a slash. */
export function nameOfLine(line: string): string {
  return /^\/(\S*)/.exec(line)?.[1] ?? '';
}

export function isOwnCommand(name: string): boolean {
  return COMMANDS.some((each) => each.name === name);
}

/** Carries a line out that begins with a slash. Says why and returns false if it is no command. */
export async function runCommand(line: string, desk: CommandDesk): Promise<boolean> {
  const name = nameOfLine(line);
  const rest = line.slice(name.length + 1);
  const command = COMMANDS.find((each) => each.name === name);
  const isMeant = command !== undefined && (rest.trim() === '' || command.takes !== undefined);
  if (isMeant) await command.run(rest.trim(), desk);
  else desk.say(command ? `/${name} takes no more words. ${AS_MESSAGE}` : unknownText(name));
  return isMeant;
}

const AS_MESSAGE = 'With a blank before it, the line is sent as a message.';

/** It may be meant as a path: then it is a message. */
function unknownText(name: string): string {
  const names = COMMANDS.map((each) => each.name);
  const advice = nameAdvice(name, names);
  const meant = advice.startsWith('did') ? ` (${advice})` : '';
  const unknown = `There is no command /${shortLine(name)}${meant}, so nothing was sent.`;
  return `${unknown} /help lists the commands. ${AS_MESSAGE}`;
}

function helpText(): string {
  const commands = COMMANDS.map(({ name, takes, help }): [string, string] => {
    return [`/${name}${takes === undefined ? '' : ` ${takes}`}`, help];
  });
  return [...rowsOf(commands), '', ...rowsOf(KEYS)].join('\n');
}

/** Each meaning in one column, unless the words before it are long. */
function rowsOf(rows: readonly (readonly [string, string])[]): string[] {
  return rows.map(([words, meaning]) => `${words.padEnd(NAME_COLUMNS)}  ${meaning}`);
}

const NAME_COLUMNS = 16;
