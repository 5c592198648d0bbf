/** What the parts of a chat share: its settings, what requests say of them, and messages to the person. */
import { hostname } from 'node:os';
import type { Client, Device } from '../../client/index.ts';
import { ClientError } from '../../client/index.ts';
import type { ImagePart } from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { OwnBridge } from '../target/target.ts';
import { describeError } from '../terminal/failure-text.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Everything a chat works with. */
export interface Chat {
  readonly client: Client;
  /** Null if this machine has no key that the bridge knows. */
  readonly device: Device | null;
  /** The bridge of this folder on this machine, whose rules the person may change. */
  readonly own?: OwnBridge | undefined;
  readonly terminal: Terminal;
  readonly format: 'text' | 'json';
  /** Of the next message. It follows the mode that the person lets the agent switch to. */
  mode: string;
  /** Sent with each message; undefined where the person said nothing of questions. */
  readonly questions?: Parameters<Client['streamChat']>[0]['questions'];
  /** Of the next message; undefined for the server's default. */
  model: string | undefined;
  /** The most requests to the model for each answer; undefined where the server decides. */
  readonly maxTurns?: number | undefined;
  /** For a new conversation; undefined where the account's default holds. */
  readonly deleteAfterHours?: number | undefined;
  readonly withReasoning: boolean;
  /** The first message carries them. */
  readonly images: readonly ImagePart[];
  /** The bridge of a new conversation; undefined where the server chooses. */
  readonly bridgeId?: string | undefined;
  /** The conversation to continue. The first answer sets it if the person named none. */
  conversationId: string | undefined;
  /** The idempotency key of the message that begins the conversation: its id follows from it. */
  readonly firstKey?: string;
  /** Gets every event. Only a conversation in the terminal sets it. */
  readonly onEvent?: (event: StreamEvent) => void;
  /** The options that name the target, for the commands that messages suggest. */
  readonly targetWords: readonly string[];
  /** The address of the server. */
  readonly url?: string;
  /** The state folder of this machine, which may not exist. Without it, nothing is kept from chat to chat. */
  readonly stateDir?: string;
}

/** What a request says of its place: the conversation that goes on, or the bridge of a new one. */
export function placeOf({ conversationId, bridgeId, deleteAfterHours }: Chat) {
  if (conversationId !== undefined) return { conversationId };
  return {
    ...(bridgeId !== undefined && { bridgeId }),
    ...(deleteAfterHours !== undefined && { deleteAfterHours }),
  };
}

/** What a request says of the answer that the chat wants. */
export function settingsOf({ model, maxTurns, questions, withReasoning }: Chat) {
  return {
    device: deviceName(),
    ...(model !== undefined && { model }),
    ...(maxTurns !== undefined && { budget: { maxTurns } }),
    ...(questions && { questions }),
    ...(withReasoning && { include: ['reasoning' as const] }),
  };
}

/** By which other devices know this one. */
export function deviceName(): string {
  return hostname().slice(0, REQUEST_LIMITS.maxNameChars);
}

/** Sends an answer. If the server refuses it, for example because it came second, shows why and returns false. */
export async function sayUnlessCounted(
  { terminal }: Pick<Chat, 'terminal'>,
  send: () => Promise<void>,
): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const words = `The answer was not accepted: ${describeError(error)}`;
    terminal.write(`${terminal.paint('yellow', words)}\n`);
    return false;
  }
}

/** Says where the person can answer a question that cannot be asked here. The run goes on waiting. */
export function sayWhereToAnswer({ terminal, conversationId = '', targetWords }: Chat): void {
  const command = ownCommand('chat', '--conversation', conversationId, ...targetWords);
  const words =
    "The agent waits for your answer. Give it in the bridge's terminal, on another device, " +
    `or here in a terminal: ${command}`;
  terminal.write(`${terminal.paint('yellow', words)}\n`);
}

/** Says why no answer begins: a message gets its turn after the answer before it, however long that takes. */
export function sayQueued({ terminal, format, targetWords }: Chat): void {
  if (format === 'json') return;
  const command = ownCommand('approvals', ...targetWords);
  const words = `Your message waits for the answer before it. \`${command}\` shows whether that one waits for you.`;
  terminal.write(`${terminal.paint('yellow', words)}\n`);
}

/** Says that the answer cannot be followed at the moment. The client goes on trying. */
export function sayLost({ terminal }: Chat, error: unknown): void {
  const why = printableLine((error as Error).message, REQUEST_LIMITS.maxReasonChars);
  const words = `The connection was lost (${why}); trying again.`;
  terminal.notify(`${terminal.paint('dim', words)}\n`);
}

/** Names the command that goes on with an answer that has met its limit. In a conversation the answer says it itself. */
export function sayHowToContinue({
  terminal,
  conversationId = '',
  format,
  targetWords,
}: Chat): void {
  if (format === 'json' || terminal.isInteractive) return;
  const words = ['--conversation', conversationId, ...targetWords, 'continue'];
  const command = ownCommand('chat', ...words);
  terminal.write(`${terminal.paint('dim', `To go on from here: ${command}`)}\n`);
}

/** Names the command that carries out the plan, or goes on with it after a failure. */
export function sayHowToExecute({
  terminal,
  conversationId = '',
  format,
  targetWords,
}: Chat): void {
  if (format === 'json') return;
  const command = ownCommand('plan', 'execute', '--conversation', conversationId, ...targetWords);
  terminal.write(`${terminal.paint('dim', `To carry out the plan: ${command}`)}\n`);
}
