/** Answers on their way to the run. */
import { ClientError } from '../../client/error.ts';
import { describeError } from '../error-text.ts';
import { ownCommand } from '../own-command.ts';
import type { Chat } from './chat.ts';

/** Sends an answer. One that is refused, such as one that came second, is told to the person and ends nothing. */
export async function sayUnlessCounted(
  { terminal }: Chat,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const words = `The answer did not count: ${describeError(error)}`;
    terminal.write(`${terminal.paint('yellow', words)}\n`);
  }
}

/** For when nobody can be asked here: the run goes on waiting. */
export function sayWhereToAnswer({ terminal, conversationId = '', targetWords }: Chat): void {
  const command = ownCommand('chat', '--conversation', conversationId, ...targetWords);
  const words =
    'The run waits for an answer. Answer it at the terminal where the bridge asks, on another device, ' +
    `or here in a terminal: ${command}`;
  terminal.write(`${terminal.paint('yellow', words)}\n`);
}
