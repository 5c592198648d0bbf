/** Talks with the agent: on a screen where the terminal can show one, else line by line. */
import type { Chat } from '../chat/chat.ts';
import { runChat } from '../chat/run-chat.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * With words, or text from a pipe, one prompt and its answer; else until the person leaves. Resolves to the exit code.
 * Rejects as {@link runChat} does.
 */
export async function talk(chat: Chat, words: readonly string[]): Promise<number> {
  const { terminal } = chat;
  if (words.join('').trim() !== '' || !canDraw(terminal, process.env)) {
    return await runChat(chat, words);
  }
  const typed = await terminal.takeTyped();
  using _ = terminal.lend();
  // Only here: the screen is most of what a chat loads.
  const { runScreen } = await import('../tui/run-screen.ts');
  return await runScreen(chat, typed);
}

/**
 * Whether a person has a terminal here that parts of the screen can be drawn anew on. `DRAWBRIDGE_PLAIN` asks for the
 * chat that only adds lines, as a screen reader needs it.
 */
function canDraw(
  { isInteractive, isPiped }: Terminal,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const { TERM, DRAWBRIDGE_PLAIN } = environment;
  return isInteractive && !isPiped && TERM !== 'dumb' && !DRAWBRIDGE_PLAIN;
}
