/** All slash commands. */
import { ModeName } from '../../../shared/wire/definitions.ts';
import { Mode } from '../../../shared/wire/modes.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    help: 'List the commands and keys',
    run: (_, { say }) => say(COMMANDS.map(({ name, help }) => `/${name}  ${help}`).join('\n')),
  },
  {
    name: 'mode',
    takes: '[NAME]',
    help: 'Show or change the mode of the next message',
    run: (rest, { session: { chat }, say }) => {
      const parsed = ModeName.safeParse(rest === '' ? chat.mode : rest);
      if (parsed.success) chat.mode = parsed.data;
      else say(`Write /mode and one name: ${Mode.options.join(', ')}, or a mode of the workspace.`);
    },
  },
  {
    name: 'new',
    help: 'Begin a new conversation with the next message',
    run: (_, { session }) => session.open(undefined),
  },
  { name: 'exit', help: 'Leave', run: (_, { leave }) => leave() },
];

/** Carries a line out that begins with a slash. An unknown name is said, and never sent. */
export async function runCommand(line: string, desk: CommandDesk): Promise<void> {
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = COMMANDS.find((each) => each.name === name);
  if (!command) return desk.say(`There is no command /${name}: /help lists them.`);
  await command.run(rest.trim(), desk);
}
