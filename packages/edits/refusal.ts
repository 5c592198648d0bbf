/** The refusal of an edit: a code for programs and a sentence for the model. */

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
  /** States what was expected, what came and what to do. */
  readonly message: string;
}

export function refuse(code: EditRefusalCode, message: string): EditRefusal {
  return { ok: false, code, message };
}

/** For example `3`, `3 and 7`, or `3, 7 and 9`. A long list is cut and says so. */
export function formatLineList(numbers: readonly number[]): string {
  const shown = numbers.slice(0, LISTED_LINES).map(String);
  if (numbers.length > LISTED_LINES)
    return `${shown.join(', ')} and ${numbers.length - LISTED_LINES} more`;
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

/** Enough for a model to choose from. The model only needs to see that there are several places. */
const LISTED_LINES = 10;
