/** What was said in a conversation, as a search looks through it: words of people and of the model, none of the tools. Pure. */
import type { ChatResponse, ConversationView, DocumentType } from '../../shared/documents.ts';

/** A user's message, and the answer as far as there is one. */
export function saidIn(message: string, response: ChatResponse | null): string {
  const documents = response?.documents ?? [];
  const answered = documents
    .filter(({ type, metadata }) => WORDS.has(type) && metadata['interrupted'] !== true)
    .map(({ content }) => content ?? '');
  return [message, ...answered].join('\n');
}

/** All of it, in order. */
export function saidInAll({ messages, responses }: ConversationView): string {
  const byId = new Map(responses.map((response) => [response.id, response]));
  return messages
    .map(({ content, responseId }) => saidIn(content, byId.get(responseId) ?? null))
    .join('\n');
}

const WORDS: ReadonlySet<DocumentType> = new Set(['text', 'code_block', 'code_reference', 'plan']);
