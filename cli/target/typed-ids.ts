/** Checks the ids that a person types. */
import { ConversationId, ResponseId } from '../../shared/ids.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** @throws {UsageError} if the text is not the id of a conversation. */
export function parseConversationId(text: string): string {
  if (ConversationId.safeParse(text).success) return text;
  throw new UsageError(`A conversation has an id like conv_…, not ${text}.`);
}

/** @throws {UsageError} if the text is not the id of a response. */
export function parseResponseId(text: string): string {
  if (ResponseId.safeParse(text).success) return text;
  throw new UsageError(`A response has an id like chat_…, not ${text}.`);
}
