/** All slash commands. */

import { shortLine } from '../../terminal/short-line.ts';
import { nameAdvice } from '../../terminal/usage-error.ts';
import { AGENTS } from './agents.ts';
import { CHANGES } from './changes.ts';
import type { CommandDesk, SlashCommand } from './command.ts';
import { CONVERSATIONS } from './conversations.ts';
import { FACTS } from './facts.ts';
import { HANDS } from './hands.ts';
import { PROCESSES } from './processes.ts';
import { SETTINGS } from './settings.ts';

export const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    help: 'List the commands and keys',
    run: (_, { say }) => say(helpText()),
  },
  ...SETTINGS,
  ...CONVERSATIONS,
  ...CHANGES,
  ...AGENTS,
  ...PROCESSES,
  ...FACTS,
  ...HANDS,
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

/** The keys of the screen. */
const KEYS: readonly (readonly [keys: string, help: string])[] = [
  ['Enter', 'sends; while an answer runs, the message goes into it'],
  ['Tab', 'completes; while an answer runs, sends the message behind it'],
  ['Shift+Enter', 'begins a new line; so do Alt+Enter, Ctrl+J, and \\ before Enter'],
  ['Alt+Up', 'takes the last waiting message back'],
  ['Up, Down', 'go through what you wrote before; Ctrl+R searches it'],
  ['Ctrl+G', 'opens the text in your editor ($VISUAL, $EDITOR)'],
  ['Ctrl+V', 'adds an image from the clipboard'],
  ['Esc', 'stops the answer'],
  ['Ctrl+C', 'clears the text, or stops the answer; twice leaves'],
  ['Ctrl+O', 'unfolds or folds outputs'],
  ['Ctrl+D', 'leaves'],
  ['@', 'names a file or folder'],
  ['!', 'runs a command of your own, which the agent does not see'],
];
