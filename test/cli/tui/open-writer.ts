/** What a person writes with, on a terminal in memory, with a scripted API behind it. */
import { Container, TuiMainScreen } from '@earendil-works/pi-tui';
import { onTestFinished } from 'vitest';
import type { Chat } from '../../../cli/chat/chat.ts';
import { ChatSession } from '../../../cli/chat/session.ts';
import { plain } from '../../../cli/terminal/paint.ts';
import type { CommandChoice, CommandDesk } from '../../../cli/tui/commands/command.ts';
import { Writer } from '../../../cli/tui/input/writer.ts';
import { CONVERSATION_ID } from '../../client/sample-tape.ts';
import { NEVER, type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { newChat } from '../chat/scripted-chat.ts';
import { scriptTerminal } from '../scripted-terminal.ts';
import { openVirtualTerminal, type VirtualTerminal } from './virtual-terminal.ts';

export interface OpenedWriter {
  readonly api: ScriptedApi;
  readonly terminal: VirtualTerminal;
  readonly writer: Writer;
  readonly session: ChatSession;
  /** What the screen has said to the person. */
  readonly said: string[];
  /** The ids of the documents that it has shown. */
  readonly shown: string[];
  /** What slash commands get. */
  readonly desk: () => CommandDesk;
  /** The lists that the person was asked to choose from. */
  readonly asked: CommandChoice[];
  /** The texts of the messages that the server has got. */
  sent(): unknown[];
}

export interface WriterSetting extends Partial<Chat> {
  readonly columns?: number;
  /** What the person chooses in each list; or in the first, the second and so on. */
  readonly choice?: string | readonly string[];
  /** Whether the conversation is private. */
  readonly isPrivate?: boolean;
}

export async function openWriter({
  columns = 80,
  choice,
  isPrivate = false,
  ...chat
}: WriterSetting = {}): Promise<OpenedWriter> {
  const api = await startScriptedApi([]);
  answerWithConversation(api, isPrivate);
  const terminal = openVirtualTerminal(columns);
  const tui = new TuiMainScreen(terminal);
  const [said, shown, asked]: [string[], string[], CommandChoice[]] = [[], [], []];
  const desk = (): CommandDesk => ({
    session,
    say: (words) => void said.push(words),
    show: (document) => void shown.push(document.id),
    write: (words) => writer.composer.write(words),
    attach: (path) => writer.attach(path),
    copy: () => {},
    pick: async (question) => {
      asked.push(question);
      return typeof choice === 'string' ? choice : choice?.[asked.length - 1];
    },
    confirm: async () => true,
    leave: () => {},
  });
  const options = { tui, paint: plain, stateDir: chat.stateDir, desk };
  const writer = new Writer({ ...options, handOver: (work) => work() });
  const session = new ChatSession({ ...newChat(api, scriptTerminal()), ...chat }, () => {
    writer.memory.follow();
    tui.requestRender();
  });
  const screen = new Container();
  screen.children = [writer.greeting, writer.pending, writer.attachments, writer.composer];
  tui.addChild(screen);
  tui.setFocus(writer.composer);
  await writer.memory.load();
  tui.start();
  onTestFinished(async () => {
    session.end();
    tui.stop();
    await api[Symbol.asyncDispose]();
  });
  const sent = () =>
    api.requests.filter(({ line }) => line === POST).map(({ body }) => textIn(body));
  return { api, terminal, writer, session, said, shown, asked, desk, sent };
}

/** The request of a message. */
export const POST = 'POST chat/completions';

/** A message begins an empty conversation, which stays quiet. */
function answerWithConversation(api: ScriptedApi, isPrivate: boolean): void {
  const view = {
    id: CONVERSATION_ID,
    title: 'A title',
    archived: false,
    created: '2026-11-20T12:00:00Z',
    bridgeId: null,
    messages: [],
    responses: [],
    earlier: null,
    position: 0,
    ...(isPrivate && { privacy: { deleteAfterHours: 1 } }),
  };
  api.answers.set(`GET conversations/${CONVERSATION_ID}?limit=20`, view);
  for (let count = 0; count < 10; count++)
    api.fates.push({ type: 'text', text: ': quiet\n\n', rest: NEVER });
}

function textIn(body: unknown): unknown {
  return Object(body)['messages'].at(-1).content;
}
