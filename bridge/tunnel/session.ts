/** Calls in, results out: mode and policy, journal, tool, in this order, across any number of connections. */
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import type {
  ApprovalAnswer,
  BridgeFrame,
  ToolCall,
  ToolResult,
  TunnelFrame,
} from '../../shared/tunnel.ts';
import type { Asking } from '../approvals/asking.ts';
import type { Verdict } from '../approvals/policy.ts';
import type { Workspace } from '../sandbox/workspace.ts';
import type { BridgeTool } from '../tools/catalogue.ts';
import { ReadLedger } from '../tools/ledger.ts';
import type { Journal } from './journal.ts';
import { Lanes } from './lanes.ts';

export interface SessionDeps {
  readonly workspace: Workspace;
  readonly tools: ReadonlyMap<string, BridgeTool>;
  /** The owner's policy; asked anew for each call, so that a changed file counts at once. */
  readonly decide: (call: ToolCall, tool: BridgeTool) => Promise<Verdict>;
  readonly asking: Asking;
  readonly journal: Journal;
}

/**
 * Owns the calls at work. A call is run once however often it arrives; what its connection does not hear is in the
 * journal until the tunnel acks it.
 */
export class Session {
  readonly #deps: SessionDeps;
  readonly #atWork = new Map<string, AbortController>();
  readonly #ledger = new ReadLedger();
  readonly #lanes = new Lanes();
  #send: ((frame: BridgeFrame) => void) | null = null;
  #credit = 0;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /** A connection is open; frames go there until {@link detach}. */
  attach(send: (frame: BridgeFrame) => void): void {
    this.#send = send;
    this.#credit = TUNNEL_LIMITS.outputCredit;
  }

  detach(): void {
    this.#send = null;
  }

  /** Sends a frame now or not at all: everything that matters is told again with the next welcome. */
  send(frame: BridgeFrame): void {
    this.#send?.(frame);
  }

  receive(frame: TunnelFrame): void {
    switch (frame.type) {
      case 'welcome':
        for (const callId of frame.cancels) this.#cancel(callId);
        for (const call of frame.calls) this.#take(call);
        for (const answer of frame.answers) void this.#answer(answer);
        for (const question of this.#deps.asking.pending) {
          if (!frame.answers.some(({ callId }) => callId === question.callId)) {
            this.send({ type: 'approval_request', ...question });
          }
        }
        return;
      case 'call':
        return this.#take(frame.call);
      case 'ack':
        return this.#deps.journal.forget(frame.callId);
      case 'cancel':
        return this.#cancel(frame.callId);
      case 'approval':
        void this.#answer(frame.answer);
        return;
      case 'credit':
        this.#credit = Math.min(this.#credit + frame.chars, TUNNEL_LIMITS.outputCredit);
        return;
      case 'goodbye':
        return;
      default:
        frame satisfies never;
    }
  }

  /** Ends everything at work; for the end of the process. */
  async end(): Promise<void> {
    for (const controller of this.#atWork.values())
      controller.abort(new Error('the bridge is ending'));
    await this.#lanes.settled();
  }

  /** The execution contract: what the journal knows of a call decides whether it runs. */
  #take(call: ToolCall): void {
    const { callId } = call;
    if (this.#atWork.has(callId)) return;
    const known = this.#deps.journal.lookup(callId);
    switch (known.state) {
      case 'finished':
        return this.send({ type: 'result', callId, result: known.result });
      case 'interrupted':
        if (!known.repeatable) return this.#finish(callId, UNKNOWN);
        break;
      case 'running':
      case 'unknown':
        break;
      default:
        known satisfies never;
    }
    const controller = new AbortController();
    this.#atWork.set(callId, controller);
    void this.#run(call, controller.signal);
  }

  async #run(call: ToolCall, signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    let result: ToolResult;
    try {
      result = await this.#perform(call, signal);
    } catch (error) {
      result = signal.aborted ? CANCELLED : failed(call, error);
    }
    const duration_ms = Math.round(performance.now() - startedAt);
    this.#atWork.delete(call.callId);
    this.#finish(call.callId, { ...result, metadata: { duration_ms, ...result.metadata } });
  }

  async #perform(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const tool = this.#deps.tools.get(call.tool);
    if (!tool)
      return refuse('UNKNOWN_TOOL', `This bridge has no tool named ${JSON.stringify(call.tool)}.`);
    const refusal = await this.#refusal(call, tool, signal);
    if (refusal) return refusal;
    const { workspace, journal } = this.#deps;
    const lane = await tool.serialKey(call.arguments, workspace);
    return await this.#lanes.run(lane, async () => {
      signal.throwIfAborted();
      const { effect, idempotent } = tool.definition;
      journal.start({ callId: call.callId, tool: call.tool, effect, idempotent });
      return await tool.execute(call.arguments, {
        workspace,
        ledger: this.#ledger,
        signal,
        conversationId: call.conversationId,
        onOutput: (delta) => this.#output(call.callId, delta),
      });
    });
  }

  /** Why the call may not run; null when the policy, or a person, lets it. */
  async #refusal(
    call: ToolCall,
    tool: BridgeTool,
    signal: AbortSignal,
  ): Promise<ToolResult | null> {
    const { decide, asking } = this.#deps;
    const { decision, reason } = await decide(call, tool);
    if (decision === 'allow') return null;
    if (decision === 'deny') return refuse('DENIED', `Not allowed on this machine: ${reason}`);
    const subject = { callId: call.callId, toolName: call.tool, arguments: call.arguments };
    const answer = await asking.ask(subject, reason, signal);
    if (answer.decision === 'once') return null;
    if (answer.decision === 'expired') return refuse('NOT_APPROVED', 'Nobody answered in time.');
    const said = answer.message ? ` They said: ${answer.message}` : '';
    return refuse('REJECTED', `The person rejected this call.${said}`);
  }

  #finish(callId: string, result: ToolResult): void {
    try {
      this.#deps.journal.finish(callId, result);
    } catch (error) {
      // The disk is full, say. The journal holds the result in memory, and the edge is about to have it.
      console.error(`the result of ${callId} could not be written:`, error);
    }
    this.send({ type: 'result', callId, result });
  }

  #cancel(callId: string): void {
    const controller = this.#atWork.get(callId);
    if (controller) return controller.abort(new Error('cancelled'));
    const known = this.#deps.journal.lookup(callId);
    if (known.state === 'finished')
      return this.send({ type: 'result', callId, result: known.result });
    this.#finish(callId, CANCELLED);
  }

  async #answer(answer: ApprovalAnswer): Promise<void> {
    const { asking } = this.#deps;
    const { callId } = answer;
    if ((await asking.answer(answer)) !== 'not_signed') return;
    const reason = 'The last answer was not signed by a device that is enrolled at this bridge.';
    // Asking again makes room for another answer.
    this.send({ type: 'approval_request', callId, reason });
  }

  #output(callId: string, delta: string): void {
    if (delta.length > this.#credit) return;
    this.#credit -= delta.length;
    this.send({ type: 'output', callId, delta });
  }
}

const CANCELLED: ToolResult = { status: 'error', code: 'CANCELLED', data: 'Cancelled.' };

const UNKNOWN: ToolResult = {
  status: 'error',
  code: 'UNKNOWN_OUTCOME',
  data:
    'The bridge was restarted while this call ran. It may or may not have had its effect: ' +
    'check the state of things before you repeat it.',
};

function refuse(code: string, data: string): ToolResult {
  return { status: 'error', code, data };
}

/** A bug in a tool: said in the log of this machine, not to the model. */
function failed({ tool, callId }: ToolCall, error: unknown): ToolResult {
  console.error(`${tool} (${callId}) failed:`, error);
  return refuse('TOOL_FAILED', `${tool} failed unexpectedly on the developer's machine.`);
}
