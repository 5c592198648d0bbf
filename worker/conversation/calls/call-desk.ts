/** The calls of the run at work: begun, shown while they run, settled once. */
import { OUTPUT_LIMITS, RUN_LIMITS } from '../../../shared/limits.ts';
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import type { Memory } from '../memory/prepare-turn.ts';
import type { Call, Run } from '../store/rows.ts';
import type { RunLog } from '../store/run-log.ts';
import type { Recorder } from '../tape/recorder.ts';
import { admitCall } from './calls.ts';
import { openQuestions } from './clarifications.ts';
import { runEdgeTool } from './edge-tools/edge-tools.ts';
import { passOver } from './edge-tools/questions.ts';
import type { TunnelHands } from './hands.ts';
import { REPEATED } from './repeated-calls.ts';
import { boundResult, resultEvents, withdrawnQuestion } from './tool-events.ts';

/** What calls stand on. */
export interface CallDeps {
  /** Nobody can be asked anything: the conversation is made for one answer, to a client that knows no questions. */
  readonly isHeadless: boolean;
  readonly log: RunLog;
  readonly recorder: Recorder;
  readonly memory: Memory;
  readonly hands: TunnelHands;
  readonly now: () => number;
  /** Has the run go on with whatever is to be done; returns at once, and may be called at any time. */
  readonly advance: () => void;
}

export class CallDesk {
  readonly #deps: CallDeps;

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  /**
   * A call that is refused, or that the edge itself can answer, is settled at once; the others wait. One that `isRepeated`
   * is refused where nobody is asked about it.
   */
  begin(call: Call, run: Run, isRepeated: boolean): void {
    const { log, recorder, memory, now, isHeadless } = this.#deps;
    const { toolbox } = log;
    const isForEdge = toolbox.executorOf(call.name) === 'edge';
    const isUnasked = isRepeated && (isHeadless || isForEdge);
    const refused = admitCall(call, run) ?? (isUnasked ? REPEATED : null);
    if (refused) return this.settle(call.callId, refused);
    if (!isForEdge) return;
    const outcome = runEdgeTool(toolbox.nameOf(call.name), call.arguments, memory.todos);
    if (outcome?.type === 'result') this.settle(call.callId, outcome.result);
    if (outcome?.type !== 'questions') return;
    log.setDeadline(now() + RUN_LIMITS.approvalMs);
    const { documentId } = call;
    const { questions } = outcome;
    recorder.record([{ type: 'clarification_request', documentId, questions }]);
  }

  /** Stores a call's result, once; later ones and those of unknown calls change nothing. */
  settle(callId: string, result: ToolResult): void {
    const { log, recorder, now, advance } = this.#deps;
    const pending = log.pending.find(({ call }) => call.callId === callId);
    if (!pending) return;
    const bounded = boundResult(result);
    const wasWaiting = recorder.response?.status === 'waiting';
    log.addResult(pending, bounded);
    const { call } = pending;
    const { toolbox } = log;
    const document = recorder.response?.documents.find(({ id }) => id === call.documentId);
    recorder.record([
      ...(document ? withdrawnQuestion(document) : []),
      ...resultEvents(call, document, bounded, { toolbox, sequence: recorder.nextSequence }),
    ]);
    // The time that a person was given is over: what still runs, and what comes later, has no more than usual.
    if (wasWaiting && recorder.response?.status !== 'waiting') {
      log.setDeadline(now() + RUN_LIMITS.callDeadlineMs);
    }
    advance();
  }

  /** Live output of a call, shown while it runs. */
  output(callId: string, delta: string): void {
    const { log, recorder } = this.#deps;
    const pending = log.pending.find(({ call }) => call.callId === callId);
    if (!pending) return;
    const { documentId } = pending.call;
    const document = recorder.response?.documents.find(({ id }) => id === documentId);
    const shown = String(document?.metadata['output'] ?? '').length;
    if (shown + delta.length > MAX_SHOWN_CHARS) return;
    recorder.stream([{ type: 'tool_output', documentId, delta }]);
  }

  /** Their time is over. */
  giveUp(calls: readonly Call[]): void {
    const { toolbox } = this.#deps.log;
    for (const { callId, name } of calls) {
      const isForEdge = toolbox.executorOf(name) === 'edge';
      this.settle(callId, isForEdge ? NOT_ANSWERED : DEADLINE_PASSED);
    }
    this.recall(calls, toolbox);
  }

  /** Tells the bridge that nobody waits for them any more. `toolbox` is that of their run. */
  recall(calls: readonly Call[], toolbox: Toolbox): void {
    const delivered = calls.filter(({ name }) => toolbox.executorOf(name) === 'bridge');
    const callIds = delivered.map(({ callId }) => callId);
    if (callIds.length === 0) return;
    // The tunnel keeps the cancel for a bridge that is away; only its own reset can lose it, and then the call runs out.
    void this.#deps.hands.cancel(callIds).catch(() => undefined);
  }

  /** Who writes a message instead of an answer wants to go on without it. */
  passOverQuestions(): void {
    const { log, recorder } = this.#deps;
    for (const { call } of log.pending) {
      const questions = openQuestions(recorder.response, call.documentId);
      if (questions) this.settle(call.callId, passOver(questions));
    }
  }
}

const NOT_ANSWERED: ToolResult = {
  status: 'error',
  code: 'NOT_ANSWERED',
  data: 'Nobody answered in time. Decide yourself, or end and say what is open.',
};

const DEADLINE_PASSED: ToolResult = {
  status: 'error',
  code: 'DEADLINE_PASSED',
  data: 'The bridge gave no result in time. Whether the call had any effect is unknown: check before you repeat it.',
};

/** Of one call's live output: all that a bridge of ours sends, with its note at the end. Every instance holds it in memory. */
const MAX_SHOWN_CHARS = OUTPUT_LIMITS.maxLiveChars + OUTPUT_LIMITS.coalesceChars;
