/** The way in which calls are carried out so that they can be undone. */

import type { ToolContext } from '../../packages/host/index.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';

/** A call that may change files. */
interface UndoableCall {
  readonly callId: string;
  readonly conversationId: string;
  /** Whether it changes files by programs, and not by what its tool keeps. */
  readonly isCommand: boolean;
  /** Whether it may run at no time with another call that changes files. */
  readonly isAlone: boolean;
}

/** Keeps what the calls of one room change. A store that fails fails no call. */
export interface Undoing {
  /** From now on the room's files are known, so that what commands change can be undone. Returns at once. */
  watch(): void;
  /**
   * Whether an undo can bring back all that a command deletes at this absolute path. That lasts, and is asked once more
   * when the command begins.
   */
  canRestore(path: string): boolean;
  /** What the call's own tool keeps its changes by. */
  keepingOf(
    call: Pick<UndoableCall, 'callId' | 'conversationId'>,
  ): Pick<ToolContext, 'keep' | 'canKeep'>;
  /** Does the work, and keeps what it changes. The result says what cannot be undone. Throws a ToolFailure (`UNDO_BUSY`). */
  around(call: UndoableCall, work: () => Promise<ToolResult>): Promise<ToolResult>;
}
