/** What becomes of a plan that the agent has made. */
import type { ChatResponse, EventStream } from '../../../client/index.ts';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import { PlanMetadata } from '../../../shared/wire/documents.ts';
import { isPlan } from '../../../shared/wire/fold.ts';
import { settingsOf } from '../../chat/chat.ts';
import type { DialogSession } from './dialog.ts';
import type { Panel } from './panel.ts';

/** A plan as the person saw it. */
export interface MadePlan {
  readonly conversationId: string;
  readonly responseId: string;
  readonly documentId: string;
  readonly title: string;
  readonly version: number;
}

/** The plan that the response ends with, if it was made in plan mode. */
export function planOf(response: ChatResponse): MadePlan | undefined {
  if (response.status !== 'completed' || response.mode !== 'plan') return undefined;
  const document = response.documents.findLast(isPlan);
  if (!document) return undefined;
  const { id: responseId, conversationId } = response;
  // Plans of earlier releases have no version: they are the first one.
  const { title = 'the plan', version = 1 } = PlanMetadata.safeParse(document.metadata).data ?? {};
  return { conversationId, responseId, documentId: document.id, title, version };
}

/** Asks, and does what the person wants. Rejects with a ClientError if the server does not. */
export async function choosePlan(
  panel: Panel,
  plan: MadePlan,
  session: Pick<DialogSession, 'chat'> & { send(words: string): Promise<void> },
): Promise<void> {
  for (;;) {
    const chosen = await panel.choose({
      title: 'What to do with the plan?',
      body: [{ text: inOneLine(plan.title), style: 'bold' }],
      choices: [
        { label: 'Carry it out', answer: 'execute' },
        { label: 'Keep planning', answer: 'change' },
        { label: 'Save it as a file', answer: 'save' },
        { label: 'Nothing', answer: 'leave' },
      ],
    });
    switch (chosen?.answer) {
      case 'execute':
        return await execute(plan, session);
      case 'change': {
        const body = [{ text: 'What should be different?' }];
        const words = await panel.write({ title: 'Keep planning', body });
        if (words) return await session.send(words);
        break;
      }
      case 'save':
        return await begin(session.chat.client.savePlan(...placeOf(plan)));
      default:
        return;
    }
  }
}

async function execute(plan: MadePlan, { chat }: Pick<DialogSession, 'chat'>): Promise<void> {
  const [conversationId, documentId, seen] = placeOf(plan);
  const request = { ...settingsOf(chat), ...seen, mode: 'agent' as const };
  await begin(chat.client.executePlan(conversationId, documentId, request));
  chat.mode = 'agent';
}

function placeOf({ conversationId, documentId, responseId, version }: MadePlan) {
  return [conversationId, documentId, { responseId, version }] as const;
}

/** The session follows the answer: only that it begins, or why not, is of interest here. */
async function begin(events: EventStream): Promise<void> {
  for await (const _ of events) return;
}
