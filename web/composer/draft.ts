/** What was typed and not sent: kept for each conversation, and for a new one. */

/** The oldest drafts go when there are more. */
const MAX_DRAFTS = 50;
const PREFIX = 'draft ';

export function readDraft(place: string): string {
  return localStorage.getItem(PREFIX + place) ?? '';
}

/** An empty text removes the draft. A full storage loses it: the text is still in the field. */
export function writeDraft(place: string, text: string): void {
  try {
    localStorage.removeItem(PREFIX + place);
    if (text === '') return;
    const kept = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
    for (const key of kept.slice(0, kept.length - MAX_DRAFTS + 1)) localStorage.removeItem(key);
    localStorage.setItem(PREFIX + place, text);
  } catch {
    // The storage is full, or there is none.
  }
}
