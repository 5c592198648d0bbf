/** Calls in, results out, each call once, across any number of connections and processes. */
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import type {
  ApprovalAnswer,
  BridgeFrame,
  MachineContext,
  ToolCall,
  ToolResult,
  TunnelFrame,
} from '../../shared/tunnel.ts';
import type { Resolution } from '../approvals/asking.ts';
import { CallRunner, type Machine } from './call-runner.ts';
import { CANCELLED, ENDED, fitFrame, fitText, refuse, UNKNOWN_OUTCOME } from './results.ts';

/** A call that was taken and has no result yet. */
interface Work {
  readonly controller: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
  /** How the question about it ended, to be told again: a connection may have lost it. */
  resolution?: Resolution;
}

/**
 * Owns the calls at work. A call is run once however often it arrives; what its connection does not hear is in the
 * journal until the tunnel acks it.
 */
export class Session {
  readonly #machine: Machine;
  readonly #runner: CallRunner;
  readonly #atWork = new Map<string, Work>();
  #send: ((frame: BridgeFrame) => void) | null = null;
  #credit = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#runner = new CallRunner(machine);
  }

  /** A connection is open; frames go there until {@link detach}. */
  attach(send: (frame: BridgeFrame) => void): void {
    this.#send = send;
    this.#credit = TUNNEL_LIMITS.outputCredit;
  }

  detach(): void {
    this.#send = null;
  }

  /** What the workspace looks like now. */
  tellContext(context: MachineContext): void {
    this.#tell({ type: 'context', context });
  }

  /** A person is asked about a call. */
  tellQuestion(callId: string, reason: string): void {
    this.#tell({ type: 'approval_request', callId, reason: fitText(reason) });
  }

  /** The question about a call has ended. */
  tellResolution(callId: string, resolution: Resolution): void {
    const work = this.#atWork.get(callId);
    const { message } = resolution;
    const told = message === undefined ? resolution : { ...resolution, message: fitText(message) };
    if (work) work.resolution = told;
    this.#tell({ type: 'approval_resolved', callId, ...told });
  }

  receive(frame: TunnelFrame): void {
    switch (frame.type) {
      case 'welcome':
        return this.#resume(frame);
      case 'call':
        return this.#take(frame.call);
      case 'ack':
        return this.#forget(frame.callId);
      case 'cancel':
        return this.#cancel(frame.callId);
      case 'approval':
        void this.#answer(frame.answer);
        return;
      case 'credit':
        this.#credit = Math.min(this.#credit + frame.chars, TUNNEL_LIMITS.outputCredit);
        return;
      case 'goodbye':
        return; // The close that follows it says what it means for the connection.
      default:
        frame satisfies never;
    }
  }

  /**
   * Ends everything at work, for the end of the process, and returns when it has ended. A call that was not started
   * has no result by that: the next process takes it from the start, question included.
   */
  async end(): Promise<void> {
    this.detach();
    const work = [...this.#atWork.values()];
    for (const { controller } of work) controller.abort(ENDING);
    await Promise.all(work.map(({ done }) => done));
  }

  #resume({ calls, cancels, answers }: Extract<TunnelFrame, { type: 'welcome' }>): void {
    const answered = new Set(answers.map(({ callId }) => callId));
    for (const callId of cancels) this.#cancel(callId);
    for (const [callId, { resolution }] of this.#atWork) {
      if (resolution) this.#tell({ type: 'approval_resolved', callId, ...resolution });
    }
    // Asking again would throw away the answer that is here. Calls taken below tell their questions themselves.
    for (const { callId, reason } of this.#machine.asking.pending) {
      if (!answered.has(callId)) this.tellQuestion(callId, reason);
    }
    for (const call of calls) this.#take(call);
    for (const answer of answers) void this.#answer(answer);
  }

  /** The execution contract: what the journal knows of a call decides whether it runs. */
  #take(call: ToolCall): void {
    const { callId } = call;
    if (this.#atWork.has(callId)) return;
    const known = this.#machine.journal.lookup(callId);
    switch (known.state) {
      case 'finished':
        return this.#tell({ type: 'result', callId, result: known.result });
      case 'interrupted':
        return known.repeatable ? this.#begin(call) : this.#finish(callId, UNKNOWN_OUTCOME);
      case 'running': // Not at work: the journal refuses to start it again.
      case 'unknown':
        return this.#begin(call);
      default:
        known satisfies never;
    }
  }

  #begin(call: ToolCall): void {
    const controller = new AbortController();
    const done = this.#run(call, controller.signal);
    this.#atWork.set(call.callId, { controller, done });
  }

  async #run(call: ToolCall, signal: AbortSignal): Promise<void> {
    const { callId } = call;
    const startedAt = performance.now();
    const result = await this.#resultOf(call, signal);
    this.#atWork.delete(callId);
    if (result === null) return;
    const duration_ms = Math.round(performance.now() - startedAt);
    this.#finish(callId, fitFrame({ ...result, metadata: { duration_ms, ...result.metadata } }));
    if (this.#machine.tools.get(call.tool)?.definition.effect !== 'read') this.#machine.onChanged();
  }

  /** Null for a call that was not started when the process ended. */
  async #resultOf(call: ToolCall, signal: AbortSignal): Promise<ToolResult | null> {
    try {
      const onOutput = (delta: string) => this.#output(call.callId, delta);
      return await this.#runner.run(call, { signal, onOutput });
    } catch (error) {
      if (!signal.aborted) return failed(call, error);
      if (signal.reason !== ENDING) return CANCELLED;
      return this.#machine.journal.lookup(call.callId).state === 'running' ? ENDED : null;
    }
  }

  #finish(callId: string, result: ToolResult): void {
    try {
      this.#machine.journal.finish(callId, result);
    } catch (error) {
      // The disk is full, say. The journal holds the result in memory, and the edge is about to have it.
      console.error(`the result of ${callId} could not be written:`, error);
    }
    this.#tell({ type: 'result', callId, result });
  }

  #forget(callId: string): void {
    try {
      this.#machine.journal.forget(callId);
    } catch (error) {
      // The disk is full, say. The next process will offer the result again, and be acked again.
      console.error(`the ack of ${callId} could not be written:`, error);
    }
  }

  #cancel(callId: string): void {
    const work = this.#atWork.get(callId);
    if (work) return work.controller.abort(new Error('cancelled'));
    const known = this.#machine.journal.lookup(callId);
    if (known.state === 'finished') {
      return this.#tell({ type: 'result', callId, result: known.result });
    }
    const mayHaveActed = known.state === 'interrupted' && !known.repeatable;
    this.#finish(callId, mayHaveActed ? UNKNOWN_OUTCOME : CANCELLED);
  }

  async #answer(answer: ApprovalAnswer): Promise<void> {
    if ((await this.#machine.asking.answer(answer)) !== 'not_signed') return;
    // Asking again makes room for another answer.
    this.tellQuestion(answer.callId, NOT_SIGNED);
  }

  /** Progress is dropped, never queued: while nobody listens, or faster than the other end takes it. */
  #output(callId: string, delta: string): void {
    if (this.#send === null || delta.length > this.#credit) return;
    this.#credit -= delta.length;
    this.#tell({ type: 'output', callId, delta });
  }

  /** Sends a frame now or not at all: everything that matters is told again with the next welcome. */
  #tell(frame: BridgeFrame): void {
    this.#send?.(frame);
  }
}

/** The reason of an abort that is nobody's wish for this call. */
const ENDING = new Error('the bridge is ending');

const NOT_SIGNED = 'The last answer was not signed by a device that is enrolled at this bridge.';

/** A bug in a tool: said in the log of this machine, not to the model. */
function failed({ tool, callId }: ToolCall, error: unknown): ToolResult {
  console.error(`${tool} (${callId}) failed:`, error);
  return refuse('TOOL_FAILED', `${tool} failed unexpectedly on the developer's machine.`);
}
