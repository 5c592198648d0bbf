/** The commands about what the agent has changed or wants to change. */
import type { ChatResponse, Document, EventStream } from '../../../client/index.ts';
import { FileEditMetadata, PlanMetadata } from '../../../shared/wire/documents.ts';
import { isPlan } from '../../../shared/wire/fold.ts';
import { deviceName } from '../../chat/chat.ts';
import type { ChatSession } from '../../chat/session.ts';
import { undoFiles } from '../../chat/undo.ts';
import { planLines } from '../../render/plan.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const CHANGES: readonly SlashCommand[] = [
  {
    name: 'undo',
    help: "Take back the agent's newest changes of files, after a preview",
    run: (_, desk) => undoFiles('last', desk),
  },
  {
    name: 'redo',
    help: 'Take back the newest undo, after a preview',
    run: (_, desk) => undoFiles('redo', desk),
  },
  { name: 'diff', help: 'Show what the agent changed in this conversation', run: showDiff },
  { name: 'plan', help: 'Show the newest plan, and carry it out or save it', run: showPlan },
];

async function showDiff(_: string, { session, say, show }: CommandDesk): Promise<void> {
  const { chat, view } = session;
  if (!view) return say('Nothing was changed yet.');
  const { conversation } = await chat.client.exportConversation(view.id);
  const edits = conversation.responses.flatMap((response) =>
    response.documents.filter(isAppliedEdit).map((document) => ({ document, response })),
  );
  if (edits.length === 0) say('The agent changed no file with its own tools.');
  for (const { document, response } of edits) show(document, response);
}

function isAppliedEdit({ type, metadata }: Document): boolean {
  const edit = type === 'file_edit' ? FileEditMetadata.safeParse(metadata).data : undefined;
  return edit !== undefined && edit.result === undefined;
}

async function showPlan(_: string, { session, say, pick }: CommandDesk): Promise<void> {
  const found = newestPlan(session);
  if (!found) return say('There is no plan yet: /mode plan and a message ask for one.');
  const { plan, document, response } = found;
  say([...planLines(plan), '', document.content ?? ''].join('\n'));
  const { client, model } = session.chat;
  const device = deviceName();
  const request = { responseId: response.id, device };
  const place = [response.conversationId, document.id] as const;
  switch (await pick({ title: 'This plan', items: PLAN_CHOICES })) {
    case 'execute':
      session.chat.mode = 'agent';
      return await begin(
        client.executePlan(...place, { ...request, mode: 'agent', ...(model && { model }) }),
      );
    case 'save':
      return await begin(client.savePlan(...place, request));
  }
}

const PLAN_CHOICES = [
  { value: 'execute', label: 'Carry it out' },
  { value: 'save', label: 'Save it in .cursor/plans' },
  { value: 'leave', label: 'Leave it', description: 'the web page lets you change it' },
];

interface FoundPlan {
  readonly plan: PlanMetadata;
  readonly document: Document;
  readonly response: ChatResponse;
}

/** Of the answers that are shown. */
function newestPlan({ view }: ChatSession): FoundPlan | undefined {
  for (const response of view?.responses.toReversed() ?? []) {
    const document = response.documents.findLast(isPlan);
    const plan = document && PlanMetadata.safeParse(document.metadata).data;
    if (plan) return { plan, document, response };
  }
  return undefined;
}

/** Resolves once the answer has begun. The session shows it. */
async function begin(events: EventStream): Promise<void> {
  await events.next();
  await events.return();
}
