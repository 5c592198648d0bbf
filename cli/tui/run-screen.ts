/** A chat on the whole screen. */
import type { Typed } from '../../machine/keyboard.ts';
import type { Chat } from '../chat/chat.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { App } from './app.ts';

/** Talks until the person leaves, and resolves to the exit code. What was typed before is sent first. */
export async function runScreen(chat: Chat, { messages, begun, hasEnded }: Typed): Promise<number> {
  if (hasEnded && messages.length === 0) return EXIT.success;
  return await new App(chat).run(messages, begun);
}
