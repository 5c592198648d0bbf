/** Tells the person what an answer was made without. Pure. */
import type { LeftPart } from '../store/rows.ts';
import type { ErrorReport } from '../tape/error-document.ts';

/** `refusal` has what the server said first. */
export function leftOutReport(
  parts: readonly LeftPart[],
  refusal: ErrorReport | undefined,
): ErrorReport {
  const names = [...new Set(parts.map(({ type }) => NAMES[type]))];
  return {
    code: 'LEFT_OUT',
    source: 'upstream',
    message: `The model server refused a part of this conversation, so this answer was made without it: ${names.join('; ')}. Nothing is deleted, and another model gets it again.`,
    ...(refusal?.details !== undefined && { details: refusal.details }),
  };
}

const NAMES: Readonly<Record<LeftPart['type'], string>> = {
  found: 'the pictures and files of your message',
  results: 'what the tools returned last',
  run: 'an earlier message that was refused before',
  before: 'the earlier messages and answers',
};
