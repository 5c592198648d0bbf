/** Talks with the agent: on a screen where the terminal can show one, else line by line. */
import type { Environment } from '../../machine/environment.ts';
import type { Chat } from '../chat/chat.ts';
import { runChat } from '../chat/run-chat.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** How a chat begins. */
export interface Opening {
  /** The first message; empty where the person writes it on the screen. */
  readonly words: readonly string[];
  /** Whether it ends with the answer to the first message. */
  readonly isOnce: boolean;
  /** Whether the person first chooses a conversation to go on with. */
  readonly picks?: boolean;
}

/** Talks until the first message is answered or the person leaves: the exit code. Rejects as {@link runChat}. */
export async function talk(chat: Chat, { words, isOnce, picks }: Opening): Promise<number> {
  const { terminal } = chat;
  const first = words.join(' ');
  const isAnswer = isOnce && first.trim() !== '';
  if (isAnswer || !canDraw(terminal, process.env)) return await runChat(chat, words);
  const { messages, begun, hasEnded } = await terminal.takeTyped();
  using _ = terminal.lend();
  const said = [...(picks ? ['/resume'] : []), ...(first === '' ? [] : [first]), ...messages];
  // Only here: the screen is most of what a chat loads.
  const { runScreen } = await import('../tui/run-screen.ts');
  return await runScreen(chat, { messages: said, begun, hasEnded });
}

/** Whether parts of the terminal can be drawn anew, and the person wants it (`DRAWBRIDGE_PLAIN`). */
export function canDraw({ isInteractive, isPiped }: Terminal, environment: Environment): boolean {
  const { TERM, DRAWBRIDGE_PLAIN } = environment;
  return isInteractive && !isPiped && TERM !== 'dumb' && !DRAWBRIDGE_PLAIN;
}
