/** What was said in a conversation, as a search looks through it: words of people and of the model, none of the tools. Pure. */
import type { ChatResponse, ConversationView, DocumentType } from '../../../shared/documents.ts';

/** A user's message, and the answer as far as there is one. */
export function saidIn(message: string, response: ChatResponse | null): string {
  const documents = response?.documents ?? [];
  const answered = documents
    .filter(({ type, metadata }) => WORDS.has(type) && metadata['interrupted'] !== true)
    .map(({ content }) => content ?? '');
  return [message, ...answered].join('\n');
}

/** All that the view shows, in order. */
function saidInAll({ messages, responses }: ConversationView): string {
  const byId = new Map(responses.map((response) => [response.id, response]));
  return messages
    .map(({ content, responseId }) => saidIn(content, byId.get(responseId) ?? null))
    .join('\n');
}

/** The end of it, from views that go back in time: of no more of them than it takes for so many UTF-16 units. */
export function newestSaid(views: Iterable<ConversationView>, enough: number): string {
  let said = '';
  for (const view of views) {
    said = `${saidInAll(view)}\n${said}`;
    if (said.length >= enough) break;
  }
  return said;
}

const WORDS: ReadonlySet<DocumentType> = new Set(['text', 'code_block', 'code_reference', 'plan']);
