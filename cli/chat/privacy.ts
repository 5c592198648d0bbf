/** Says what becomes of the text of a private conversation. */
import type { ConversationView } from '../../shared/wire/documents.ts';
import type { Chat } from './chat.ts';

/** For a conversation as it was read, or a new one; nothing where neither says that it is private. */
export function sayPrivacy(
  { deleteAfterHours, terminal }: Chat,
  view: ConversationView | undefined,
): void {
  const privacy = view?.privacy;
  const hours = view ? privacy?.deleteAfterHours : deleteAfterHours;
  if (hours === undefined) return;
  const when = privacy?.deletes ? `at ${privacy.deletes}` : afterHours(hours);
  terminal.write(`${terminal.paint('dim', `Private: the text is deleted ${when}.`)}\n`);
}

/** Completes the sentence "The text is deleted …". */
export function afterHours(hours: number): string {
  if (hours === 0) return 'as soon as it is answered';
  return hours === 1 ? 'an hour after the last answer' : `${hours} hours after the last answer`;
}
