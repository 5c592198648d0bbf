/** What a call came to that was ended, and how results fit a frame. */
import { RUN_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import type { ToolResult } from '../../shared/tunnel.ts';

export const CANCELLED: ToolResult = { status: 'error', code: 'CANCELLED', data: 'Cancelled.' };

export const ENDED: ToolResult = {
  status: 'error',
  code: 'CANCELLED',
  data: 'The bridge was ended while this call ran: check the state of things before you repeat it.',
};

/**
 * A result as one frame can hold it; a larger one would be refused now and after every restart. Tools bound what they
 * say, but escaped control characters are six times as long. Half a frame is for what goes around it.
 */
export function fitFrame(result: ToolResult): ToolResult {
  if (JSON.stringify(result).length <= TUNNEL_LIMITS.maxFrameBytes / 2) return result;
  const { metadata: _, ...rest } = result;
  return { ...rest, data: result.data.slice(0, RUN_LIMITS.maxResultChars) };
}

/** A short text within what a frame takes. */
export function fitText(text: string): string {
  return text.slice(0, TUNNEL_LIMITS.maxTextChars).toWellFormed();
}
