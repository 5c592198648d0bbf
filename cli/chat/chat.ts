/** What all of a chat works with, and what it says to the person on its own account. */
import type { Client } from '../../client/client.ts';
import type { Device } from '../../client/device.ts';
import { ClientError } from '../../client/error.ts';
import type { StreamEvent } from '../../shared/events.ts';
import type { Mode } from '../../shared/modes.ts';
import type { ImagePart } from '../../shared/requests.ts';
import { describeError } from '../terminal/failure-text.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Everything a chat works with. The conversation is the one that goes on, once there is one. */
export interface Chat {
  readonly client: Client;
  /** This machine's key, where it is enrolled at the bridge. */
  readonly device: Device | null;
  readonly terminal: Terminal;
  readonly format: 'text' | 'json';
  readonly mode: Mode;
  readonly model: string | undefined;
  readonly withReasoning: boolean;
  /** They go with the first message. */
  readonly images: readonly ImagePart[];
  conversationId: string | undefined;
  /** Sees every event of a conversation in the terminal. */
  readonly onEvent?: (event: StreamEvent) => void;
  /** The options that name the target, for commands that the person is advised to type. */
  readonly targetWords: readonly string[];
}

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
