/** A chat: one prompt and its answer, or a conversation in the terminal. */
import { ClientError } from '../../client/index.ts';
import { printable } from '../../shared/text/plain-sight.ts';
import { ModeName } from '../../shared/wire/definitions.ts';
import type { ConversationView } from '../../shared/wire/documents.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { watchReplaced } from '../target/replaced.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { describeError } from '../terminal/failure-text.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { BridgeWatch } from './bridge-watch.ts';
import type { Chat } from './chat.ts';
import { readMessage, toContent } from './message.ts';
import { sayPrivacy } from './privacy.ts';
import { openScreen } from './screen.ts';
import { joinTurn, runTurn, type TurnEnd } from './turn.ts';

/** Talks until the prompt is answered or the person leaves: the exit code. @throws {UsageError | ClientError} */
export async function runChat(chat: Chat, words: readonly string[]): Promise<number> {
  const { terminal, images } = chat;
  if (words.join('').trim() === '' && terminal.isInteractive) {
    const leaving = new AbortController();
    const say = (line: string) => terminal.notify(`${terminal.paint('yellow', line)}\n`);
    void watchReplaced(chat, say, leaving.signal);
    return await converse(chat).finally(() => leaving.abort());
  }
  const message = await readMessage(terminal, words);
  if (message.trim() === '' && images.length === 0) {
    throw new UsageError('The message is empty: give a prompt, or pipe one in.');
  }
  return EXIT_CODES[await runTurn(chat, toContent(message, images))];
}

/** The exit code of a command that ends with a turn. */
export const EXIT_CODES: Readonly<Record<TurnEnd, number>> = {
  completed: EXIT.success,
  error: EXIT.failure,
  waiting: EXIT.waiting,
  cancelled: EXIT.interrupted,
  left: EXIT.interrupted,
  terminated: EXIT.terminated,
  unread: EXIT.unread,
};

/** Shows the error of a failed turn and goes on with the conversation. */
async function converse(opened: Chat): Promise<number> {
  const { terminal } = opened;
  using watch = new BridgeWatch(opened);
  const chat = { ...opened, onEvent: (event: StreamEvent) => watch.see(event) };
  using _ = terminal.listen();
  terminal.write(`${terminal.paint('dim', HINT)}\n`);
  const { conversationId } = chat;
  const view =
    conversationId === undefined
      ? undefined
      : await chat.client.getConversation(conversationId, { limit: 1 });
  sayPrivacy(chat, view);
  if (view) showLastAnswer(chat, view);
  const last = view?.responses.at(-1);
  // A person who comes back sees the answer in progress, and its open questions.
  let end = last && !isOver(last.status) ? await joinTurn(chat, last.id) : undefined;
  let { images } = chat;
  while (!end || isOver(end)) {
    const message = await terminal.readMessage(terminal.paint('bold', '> '));
    if (message === undefined) return EXIT.success;
    if (message.trim() === '' || tookMode(chat, message)) continue;
    try {
      if (await isUnknownCommand(chat, message)) {
        terminal.write(`${terminal.paint('red', UNKNOWN)}\n`);
        continue;
      }
      end = await runTurn(chat, toContent(message, images));
      images = [];
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      terminal.write(`${terminal.paint('red', describeError(error))}\n`);
    }
  }
  return EXIT_CODES[end];
}

const HINT = 'Ctrl-C cancels an answer, Ctrl-D leaves, "/mode plan" changes the mode.';

/** Carries out `/mode` and `/mode NAME`. False for any other message. The server knows which modes there are. */
function tookMode(chat: Chat, message: string): boolean {
  const [command, ...names] = message.trim().split(/\s+/);
  if (command !== '/mode') return false;
  const { terminal } = chat;
  const parsed = ModeName.safeParse(names.length === 0 ? chat.mode : names.join(' '));
  if (!parsed.success) {
    const modes = Mode.options.join(', ');
    const words = `Write /mode and one name: ${modes}, or a mode of the workspace.`;
    terminal.write(`${terminal.paint('red', words)}\n`);
    return true;
  }
  chat.mode = parsed.data;
  terminal.write(`${terminal.paint('dim', `Mode: ${chat.mode}.`)}\n`);
  return true;
}

/** Whether the message begins like a command, and is neither a skill nor a command of the machine. */
async function isUnknownCommand(
  { client, bridgeId, own }: Chat,
  message: string,
): Promise<boolean> {
  const [, name] = /^\/([^\s/]+)(?:\s|$)/.exec(message) ?? [];
  if (name === undefined) return false;
  const id = bridgeId ?? own?.bridgeId;
  const { skills } = id === undefined ? { skills: [] } : await client.getBridge(id);
  return !skills.some((skill) => skill.name === name && skill.callers !== 'model');
}

const UNKNOWN =
  'Nothing was sent: there is no such command here, only /mode and the skills of the machine. With a blank before ' +
  'it, the line is sent as a message.';

/** Shows a person who comes back what was said last. An answer in progress is followed from its start instead. */
function showLastAnswer({ terminal }: Chat, { messages, responses }: ConversationView): void {
  const response = responses.at(-1);
  if (!response || !isOver(response.status)) return;
  const message = messages.findLast(({ responseId }) => responseId === response.id);
  if (message) terminal.write(`${terminal.paint('bold', `> ${printable(message.content)}`)}\n`);
  const event = { type: 'snapshot', snapshot: { scope: 'response', response } } as const;
  openScreen(terminal, 'text').show({ event, position: undefined });
  terminal.write('\n');
}
