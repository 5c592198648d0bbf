/** The worktree of an agent beside its runs: closes it after a run that ended without that, and removes it. */
import { newCallId } from '../../shared/ids.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import {
  ClosedWorktree,
  closeWorktree,
  OpenedWorktree,
  removeWorktree,
} from '../../shared/tools/worktree.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { type BridgeCall, ownCall } from '../conversation/calls/calls.ts';
import type { RunLog } from '../conversation/log/run-log.ts';
import type { WorktreeClosing } from '../conversation/store/rows.ts';
import type { TurnStore } from '../conversation/store/turn-statements.ts';
import { reach } from '../reach.ts';
import { worktreeOf } from './view.ts';

export interface WorktreeDeps {
  readonly log: RunLog;
  readonly turns: Pick<TurnStore, 'worktreeResultsBack' | 'readLastTurnNumber'>;
  readonly hands: { dispatch(calls: readonly BridgeCall[], isPatient?: boolean): Promise<void> };
  readonly read: () => WorktreeClosing | undefined;
  /** Stores it in the caller's synchronous step. */
  readonly save: (closing: WorktreeClosing | undefined) => void;
  /** Sets the alarm for the next deadline. */
  readonly arm: () => Promise<void>;
}

/**
 * A run that succeeds closes the worktree itself. Any other run ends at once, and the bridge closes the worktree
 * afterwards, without a commit: at once, or when it is back. What is to be closed is stored with the run's end.
 */
export class AgentWorktree {
  readonly #deps: WorktreeDeps;
  /** When the close is sent again; null unless sending it has failed. */
  closeAtMs: number | null = null;

  constructor(deps: WorktreeDeps) {
    this.#deps = deps;
  }

  /** Call it in the step that stores the end of a run. */
  ended(ordinal: number): void {
    const { log, turns, read, save } = this.#deps;
    const firstTurn = log.find(ordinal)?.firstTurn ?? null;
    if (firstTurn === null) return;
    for (const { turn, result } of turns.worktreeResultsBack()) {
      if (turn < firstTurn) return; // It has not opened the worktree.
      const isLast = turn === turns.readLastTurnNumber();
      if (isLast && ClosedWorktree.safeParse(result.metadata).success) {
        if (read()) save(undefined);
        return;
      }
      if (OpenedWorktree.safeParse(result.metadata).success) return this.#begin();
    }
  }

  /** Sends the close that the bridge has not answered. The same one again changes nothing. */
  async close(): Promise<void> {
    const closing = this.#deps.read();
    if (!closing || closing.closed !== undefined) return;
    this.closeAtMs = null;
    const args = { commit: false };
    const call = ownCall({ callId: closing.callId, name: closeWorktree.name, arguments: args });
    try {
      await this.#deps.hands.dispatch([call], true);
    } catch {
      // The tunnel's object was reset.
      this.closeAtMs = Date.now() + RUN_LIMITS.dispatchRetryMs;
      await this.#deps.arm().catch(() => undefined);
    }
  }

  /** Takes the result of the close. Ignores that of another call. */
  settle(callId: string, { metadata }: ToolResult): void {
    const closing = this.#deps.read();
    if (closing?.callId !== callId || closing.closed !== undefined) return;
    this.#deps.save({ callId, closed: ClosedWorktree.safeParse(metadata).data ?? null });
  }

  /** Has the bridge remove the worktree. Never rejects: what a bridge has kept, its owner can list and remove. */
  async remove(): Promise<void> {
    const callId = newCallId(crypto.randomUUID());
    const call = ownCall({ callId, name: removeWorktree.name, arguments: {} });
    await reach(() => this.#deps.hands.dispatch([call])).catch(() => undefined);
  }

  describe(): ReturnType<typeof worktreeOf> {
    const { turns, read } = this.#deps;
    return worktreeOf(turns.worktreeResultsBack(), read());
  }

  #begin(): void {
    this.#deps.save({ callId: newCallId(crypto.randomUUID()) });
    queueMicrotask(() => void this.close()); // After the calls of the run are recalled.
  }
}
