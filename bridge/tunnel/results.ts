/** The results of calls that were ended, and the cut of results to the size of a frame. */
import { RUN_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import { failure, type ToolResult } from '../../shared/wire/tunnel.ts';

export const CANCELLED = failure('CANCELLED', 'Cancelled.');

export const ENDED = failure(
  'CANCELLED',
  'The bridge was ended while this call ran: check the state of things before you repeat it.',
);

/**
 * A result that fits into one frame. A larger one would be refused now and after every restart. Tools bound their
 * texts, but escaped control characters are six times as long. Half of the frame is left for its other fields.
 */
export function fitFrame(result: ToolResult): ToolResult {
  if (JSON.stringify(result).length <= TUNNEL_LIMITS.maxFrameBytes / 2) return result;
  const { metadata: _, ...rest } = result;
  return { ...rest, data: result.data.slice(0, RUN_LIMITS.maxResultChars) };
}

/** A short text, cut to the length that a frame takes. */
export function fitText(text: string): string {
  return text.slice(0, TUNNEL_LIMITS.maxTextChars).toWellFormed();
}
