/** Crashes around calls: while all of a turn's calls are at the bridge, and when all their results are stored. */
import type { ToolCall } from '../../../../shared/wire/tunnel.ts';
import type { BridgeEvents } from './bridge.ts';
import { pathOf } from './bridge.ts';
import type { Stage } from './stage.ts';
import type { PlannedTurn } from './turns.ts';

export class CallGate implements BridgeEvents {
  readonly #stage: Stage;
  /** Calls of a step that are at the bridge, and who waits for the rest of them. */
  readonly #received = new Map<string, { count: number; all: PromiseWithResolvers<void> }>();
  readonly #acked = new Map<string, number>();
  readonly #steps = new Map<string, string>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Keeps a turn's calls together until all are here, so that the crash finds all of them out. */
  async received(call: ToolCall): Promise<void> {
    const step = stepOf(pathOf(call));
    this.#steps.set(call.callId, step);
    const turn = this.#turnOf(step);
    if (turn?.waitingCrash !== 'calls_out' && turn?.waitingCrash !== 'tunnel_lost') return;
    const waiting = this.#received.get(step) ?? { count: 0, all: Promise.withResolvers<void>() };
    this.#received.set(step, waiting);
    waiting.count++;
    if (waiting.count === turn.calls.length) {
      await this.#stage.crashes.make(turn.waitingCrash);
      waiting.all.resolve();
    }
    await waiting.all.promise;
  }

  acked(callId: string): void {
    const step = this.#steps.get(callId);
    const turn = step === undefined ? undefined : this.#turnOf(step);
    if (step === undefined || !turn?.crashAfterResult) return;
    const count = (this.#acked.get(step) ?? 0) + 1;
    this.#acked.set(step, count);
    if (count === turn.calls.length) void this.#stage.crashes.make('after_result');
  }

  #turnOf(step: string): PlannedTurn | undefined {
    const [message = 0, turn = 0] = step.split('.').map(Number);
    return this.#stage.plan.messages[message]?.[turn];
  }
}

/** `message.turn` of the path that the model gave a call. */
function stepOf(path: string): string {
  return path.split('.').slice(0, 2).join('.');
}
