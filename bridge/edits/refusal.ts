/** What an edit answers instead of a text: a code for programs and a sentence the model can act on. */

export type EditRefusalCode =
  | 'NOT_FOUND_IN_FILE'
  | 'AMBIGUOUS'
  | 'ALREADY_APPLIED'
  | 'NO_CHANGE'
  | 'MARKER_LEFT_IN_TEXT'
  | 'LINE_NUMBERS_IN_TEXT'
  | 'NO_ANCHOR'
  | 'TOO_MUCH_DELETED'
  | 'FILE_TOO_LARGE';

export interface EditRefusal {
  readonly ok: false;
  readonly code: EditRefusalCode;
  /** What was expected, what came and what to do. */
  readonly message: string;
}

export function refuse(code: EditRefusalCode, message: string): EditRefusal {
  return { ok: false, code, message };
}

/** `3`, `3 and 7`, `3, 7 and 9`; long lists are cut and say so. */
export function formatLineList(numbers: readonly number[]): string {
  const shown = numbers.slice(0, LISTED_LINES).map(String);
  if (numbers.length > LISTED_LINES)
    return `${shown.join(', ')} and ${numbers.length - LISTED_LINES} more`;
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

/** Enough for a model to choose from; it only has to see that one place is not the only one. */
const LISTED_LINES = 10;
