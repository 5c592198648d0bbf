/** What was typed and not sent: kept for each conversation, and for a new one. */
import { keepText, keptNames, readText } from '../parts/storage.ts';

/** The oldest drafts go when there are more. */
const MAX_DRAFTS = 50;
const PREFIX = 'draft ';

export function readDraft(place: string): string {
  return readText(PREFIX + place);
}

/** An empty text removes the draft. A full storage loses it: the text is still in the field. */
export function writeDraft(place: string, text: string): void {
  const others = keptNames().filter((name) => name.startsWith(PREFIX) && name !== PREFIX + place);
  for (const name of others.slice(0, Math.max(0, others.length - MAX_DRAFTS + 1)))
    keepText(name, '');
  keepText(PREFIX + place, text);
}
