/** A chat on the whole screen. */
import type { Typed } from '../../machine/keyboard.ts';
import type { Chat } from '../chat/chat.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { App } from './app.ts';

/** Talks until the person leaves, says how to come back: the exit code. What was typed before is sent first. */
export async function runScreen(chat: Chat, { messages, begun, hasEnded }: Typed): Promise<number> {
  if (hasEnded && messages.length === 0) return EXIT.success;
  const code = await new App(chat).run(messages, begun);
  const { terminal, conversationId, targetWords } = chat;
  if (conversationId !== undefined) {
    const back = targetWords.includes('--url')
      ? ownCommand('chat', '--conversation', conversationId, ...targetWords)
      : ownCommand('--resume', conversationId, ...targetWords);
    terminal.write(`${terminal.paint('dim', `To continue: ${back}`)}\n`);
  }
  return code;
}
