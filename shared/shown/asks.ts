/** What waits for a person: calls to allow, and questions of the agent. */

import type { ChatResponse, Document } from '../wire/documents.ts';
import { asksOf, isUnanswered } from '../wire/fold.ts';
import { SubagentAsk } from '../wire/subagents.ts';

interface AskingConversation {
  readonly id: string;
  readonly title: string;
}

/** {@link asksIn} while the response waits: the documents of one that was cancelled keep their questions. */
export function openAsksIn(
  conversation: AskingConversation,
  response: ChatResponse | null,
): SubagentAsk[] {
  return response?.status === 'waiting' ? asksIn(conversation, response) : [];
}

/** Everything in a response that waits for a person, with what waits in the subagents below it. */
export function asksIn(
  conversation: AskingConversation,
  response: ChatResponse | null,
): SubagentAsk[] {
  const { documents = [] } = response ?? {};
  const below = documents.flatMap(({ metadata }) => asksOf(metadata));
  return [...below, ...ownAsksIn(conversation, response)];
}

/** What waits in the response itself. */
function ownAsksIn(conversation: AskingConversation, response: ChatResponse | null): SubagentAsk[] {
  const { id: conversationId, title } = conversation;
  const { id: responseId, documents = [] } = response ?? {};
  return documents.flatMap((document) => {
    const where = { conversationId, title, responseId, documentId: document.id };
    return SubagentAsk.safeParse({ ...askOf(document), ...where }).data ?? [];
  });
}

function askOf({ metadata }: Document): object {
  if (isUnanswered(metadata)) return { kind: 'clarification', questions: metadata['questions'] };
  return { ...Object(metadata['approval']), kind: 'approval' };
}
