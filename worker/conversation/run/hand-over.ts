/** Hands the calls of the current run over to the bridge. */
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { CallDesk } from '../calls/call-desk.ts';
import { bridgeCall, ownCall } from '../calls/calls.ts';
import type { PendingCall } from '../log/run-log.ts';
import type { Run, Turn } from '../store/rows.ts';
import type { RunDeps } from './run-deps.ts';

export class HandOver {
  readonly #deps: RunDeps;
  readonly #calls: CallDesk;
  /** The calls of the last turn that this instance has handed over. */
  readonly #done = new Set<string>();
  /** When the bridge is asked again after its object was reset during a call. */
  againAtMs = 0;

  constructor(deps: RunDeps, calls: CallDesk) {
    this.#deps = deps;
    this.#calls = calls;
  }

  /** Forgets the calls of the turn before. */
  clear(): void {
    this.#done.clear();
  }

  /** The pending calls for the bridge that this instance has not handed over. */
  get waiting(): PendingCall[] {
    const { pending, toolbox } = this.#deps.log;
    return pending.filter(
      ({ call }) => toolbox.executorOf(call.name) === 'bridge' && !this.#done.has(call.callId),
    );
  }

  /** Hands over what waits, and returns: the object can sleep while the developer's machine works. */
  async handOver(run: Run, turn: Turn): Promise<void> {
    const fresh = this.waiting.map(({ call }) => call);
    if (fresh.length === 0) return;
    if (this.#deps.wasTakenBack(turn.atMs)) return this.#calls.lose(fresh);
    try {
      const { hands, conversationId } = this.#deps;
      const place = { conversationId, run };
      await hands.dispatch(
        fresh.map((call) =>
          turn.own === 'worktree'
            ? ownCall(call, place)
            : bridgeCall(call, place, this.#calls.reasonToAsk(call)),
        ),
      );
      for (const { callId } of fresh) this.#done.add(callId);
      await this.#cancelOvertaken(fresh.map(({ callId }) => callId));
    } catch {
      await this.retrySoon(); // The calls stay in the log.
    }
  }

  /** For a tunnel's object that was reset during a call: the alarm tries again. */
  retrySoon(): Promise<void> {
    this.againAtMs = this.#deps.now() + RUN_LIMITS.dispatchRetryMs;
    return this.#deps.arm();
  }

  /** Cancels calls that ended during the hand-over: the first cancel may have come before them, and been lost. */
  async #cancelOvertaken(callIds: readonly string[]): Promise<void> {
    const waiting = new Set(this.#deps.log.pending.map(({ call }) => call.callId));
    const over = callIds.filter((callId) => !waiting.has(callId));
    if (over.length > 0) await this.#deps.hands.cancel(over);
  }
}
