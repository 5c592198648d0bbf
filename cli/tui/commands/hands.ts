/** The commands about images, the clipboard, and leaving. */
import { renderWords } from '../../../shared/shown/markdown.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const HANDS: readonly SlashCommand[] = [
  {
    name: 'image',
    takes: 'PATH',
    help: 'Add an image file to the next message',
    run: async (rest, { attach, say }) => {
      if (rest === '') say('Write /image and the path of a PNG, JPEG, WebP or GIF file.');
      else await attach(rest);
    },
  },
  { name: 'copy', help: 'Copy the last answer to the clipboard', run: copyAnswer },
  { name: 'exit', help: 'Leave', run: (_, { leave }) => leave() },
];

function copyAnswer(_: string, { session: { view }, copy, say }: CommandDesk): void {
  const texts = view?.responses.toReversed().map(({ documents }) => renderWords(documents).content);
  const text = texts?.find((each) => each !== '');
  if (text === undefined) return say('There is no answer to copy yet.');
  copy(text);
  say(`Sent ${text.length} characters to the clipboard of the terminal, if it allows that.`);
}
