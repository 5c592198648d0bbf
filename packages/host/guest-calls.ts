/** The contract of calls that begin at the bridge: another agent program asks through its editor, which the bridge is. */
import type { ToolResult } from '../../shared/wire/tunnel.ts';

/** The calls that begin at this bridge. No method throws. */
export interface GuestCalls {
  /** What became of a call that its guest was answered about itself; undefined for another call. */
  closed(callId: string): Promise<ToolResult> | undefined;
  /** The process ends: nothing more is waited for. */
  end(): void;
  /** The edge has no such call, or does not take it. */
  refused(callId: string): void;
  /** A call has its result: one of the edge, or one that began at the bridge. */
  ended(callId: string, result: ToolResult): void;
}
