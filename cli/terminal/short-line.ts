/** Text from outside in the lines of a list or a summary. */
import { printableLine } from '../../shared/text/plain-sight.ts';
import { RENDER_LIMITS } from '../limits.ts';

/** The text on one line, without control characters, cut to the length of a summary. */
export function shortLine(text: string): string {
  return printableLine(text, RENDER_LIMITS.maxSummaryChars);
}
