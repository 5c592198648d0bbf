/** The commands that go from one conversation to another, or make a copy of one. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SelectItem } from '@earendil-works/pi-tui';
import type { BridgeInfo, ConversationInfo, ConversationView } from '../../../client/index.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { nameInLine, printableLine } from '../../../shared/text/plain-sight.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import { deviceName } from '../../chat/chat.ts';
import type { ChatSession } from '../../chat/session.ts';
import { describeReport, previewUndo } from '../../chat/undo.ts';
import { parseConversationId } from '../../target/typed-ids.ts';
import { writtenPath } from '../../terminal/written-path.ts';
import { ageOf } from './ages.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const CONVERSATIONS: readonly SlashCommand[] = [
  {
    name: 'new',
    help: 'Begin a new conversation with the next message',
    run: (_, { session }) => session.open(undefined),
  },
  {
    name: 'resume',
    takes: '[ID]',
    help: 'Go on with another conversation',
    complete: async (prefix, { session }) => {
      const items = await conversationItems(session);
      return items.filter(({ value }) => value.startsWith(prefix));
    },
    run: resume,
  },
  {
    name: 'fork',
    help: 'Go on in a copy of this conversation, from its end or an earlier answer',
    run: fork,
  },
  {
    name: 'compact',
    help: 'Have the conversation summarised, to make room in the context',
    run: compact,
  },
  {
    name: 'whole',
    help: 'Send what the model server refused again, with the next message',
    run: sendWhole,
  },
  {
    name: 'export',
    takes: '[FILE]',
    help: 'Write this conversation into a Markdown file',
    run: exportTo,
  },
  { name: 'approve', help: 'Show what waits for you in other conversations', run: approve },
];

async function resume(rest: string, { session, say, pick }: CommandDesk): Promise<void> {
  if (rest !== '') return session.open(parseConversationId(rest));
  const items = await conversationItems(session);
  if (items.length === 0) return say('There is no other conversation yet.');
  const id = await pick({ title: 'Go on with', items });
  if (id !== undefined) session.open(id);
}

/** Those of this folder first, the most recently answered first. */
async function conversationItems({ chat, bridgeId }: ChatSession): Promise<SelectItem[]> {
  const { client, conversationId } = chat;
  const [{ items }, { items: bridges }] = await Promise.all([
    client.listConversations({ limit: REQUEST_LIMITS.maxPageSize }),
    client.listBridges(),
  ]);
  const others = items.filter(({ id }) => id !== conversationId);
  const isHere = (info: ConversationInfo) => info.bridgeId === bridgeId;
  const nowMs = Date.now();
  return [...others.filter(isHere), ...others.filter((info) => !isHere(info))].map((info) => {
    const facts = [...folderOf(info, bridges), ageOf(info.updated, nowMs), ...stateOf(info)];
    return { value: info.id, label: title(info.title), description: facts.join(' · ') };
  });
}

function folderOf({ bridgeId }: ConversationInfo, bridges: readonly BridgeInfo[]): string[] {
  const bridge = bridges.find(({ id }) => id === bridgeId);
  return bridge ? [nameInLine(basename(bridge.workspacePath))] : [];
}

function stateOf({ running, waiting, agent }: ConversationInfo): string[] {
  const isWaiting = waiting.approvals + waiting.questions > 0;
  return [
    ...(agent === undefined ? [] : ['agent']),
    ...(isWaiting ? ['waits for you'] : running ? ['running'] : []),
  ];
}

async function fork(_: string, desk: CommandDesk): Promise<void> {
  const { session, say, pick } = desk;
  const { view } = session;
  const ended = (view?.responses ?? []).filter(({ status }) => isOver(status));
  const newest = ended.at(-1);
  if (!view || !newest) return say('There is no answer yet to go on from.');
  const items = ended.toReversed().map(({ id }, index) => ({
    value: id,
    label: index === 0 ? 'From the end' : `After: ${title(messageOf(view, id))}`,
  }));
  const from = items.length === 1 ? newest.id : await pick({ title: 'Go on in a copy', items });
  if (from === undefined) return;
  const restored = from === newest.id ? undefined : await chooseFiles(view.id, from, desk);
  if (restored === 'back') return;
  const forked = await session.chat.client.forkConversation(view.id, from, restored);
  session.open(forked.conversationId);
  say('This is a copy. The conversation that it comes from stays as it is: /resume goes back.');
}

/** Whether the files become what they were at that answer. Undefined where nothing would change, or they stay. */
async function chooseFiles(
  conversationId: string,
  responseId: string,
  { session, say, pick }: CommandDesk,
) {
  const next = responseIdOf(conversationId, parseResponseId(responseId).ordinal + 1);
  const report = await previewUndo(session, { scope: 'since', id: next });
  if (!report) return undefined;
  say(describeReport(report));
  const title = 'The files that were changed since';
  const choice = await pick({ title, items: FILE_CHOICES });
  if (choice === undefined) return 'back';
  return choice === 'restore' ? ({ files: 'restore', digest: report.digest } as const) : undefined;
}

const FILE_CHOICES: readonly SelectItem[] = [
  { value: 'keep', label: 'Leave the files as they are' },
  { value: 'restore', label: 'Take the changes back too' },
];

function messageOf({ messages }: ConversationView, responseId: string): string {
  return messages.find((each) => each.responseId === responseId && !each.steers)?.content ?? '';
}

async function compact(_: string, { session, say }: CommandDesk): Promise<void> {
  const { chat, view, current, isBusy } = session;
  if (!view || !current) return say('There is nothing to summarise yet.');
  if (isBusy) return say('An answer is running: stop it first, or wait until it ends.');
  const model = chat.model ?? current.model;
  const device = deviceName();
  const events = chat.client.compact(view.id, { model, device });
  // The session follows the same conversation, and shows the answer.
  await events.next();
  await events.return();
}

async function sendWhole(_: string, { session: { chat, view }, say }: CommandDesk): Promise<void> {
  if (!view) return say('Nothing was refused yet.');
  await chat.client.sendWhole(view.id);
  say('The next message is sent with all that was said.');
}

async function exportTo(rest: string, { session: { chat, view }, say }: CommandDesk) {
  if (!view) return say('There is nothing to write yet.');
  const path = writtenPath(rest === '' ? `${fileNameOf(view.title)}.md` : rest);
  const text = await chat.client.exportMarkdown(view.id);
  try {
    await writeFile(path, text, { flag: 'wx' });
    say(`Written: ${nameInLine(path)}`);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    say(`${nameInLine(path)} exists already: name another file, as /export FILE.`);
  }
}

/** Letters and digits of any script, with hyphens between the words. */
function fileNameOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join('-').slice(0, MAX_FILE_NAME).toLowerCase() || 'conversation';
}

/** UTF-16 units; file systems take 255 bytes. */
const MAX_FILE_NAME = 60;

async function approve(_: string, { session, say, pick }: CommandDesk): Promise<void> {
  const { client, conversationId } = session.chat;
  const { items: calls, questions } = await client.listApprovals();
  const waiting = [...calls, ...questions].filter((each) => each.conversationId !== conversationId);
  if (waiting.length === 0) return say('Nothing waits for you in other conversations.');
  const items = waiting.map((each) => ({
    value: each.conversationId,
    label: title(each.title),
    description: 'questions' in each ? 'a question' : nameInLine(each.proposal.tool),
  }));
  const id = await pick({ title: 'Open a conversation that waits for you', items });
  if (id !== undefined) session.open(id);
}

function title(text: string): string {
  return printableLine(text, REQUEST_LIMITS.maxNameChars);
}
