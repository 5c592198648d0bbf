/** The calls of the current run: begins each call, shows its output, and settles it once. */
import type { GivenResults } from '../../../shared/api/app-results.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { OUTPUT_LIMITS, RUN_LIMITS } from '../../../shared/limits.ts';
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import { SECOND } from '../../../shared/units.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { toolboxOf } from '../log/offered-tools.ts';
import type { PendingCall, RunLog } from '../log/run-log.ts';
import type { Memory } from '../memory/prepare-turn.ts';
import type { RunWatch } from '../run-watch.ts';
import { subagentOf } from '../store/errands.ts';
import type { Call, Run, RunMode } from '../store/rows.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import type { Recorder } from '../tape/recorder.ts';
import { admitCall } from './calls.ts';
import { Clarifications } from './clarifications.ts';
import { EXECUTORS, type LateCall } from './executors.ts';
import type { TunnelHands } from './hands.ts';
import {
  canChange,
  isSame,
  noted,
  REPEATED_REASON,
  repeatedResult,
  stopped,
} from './repeated-calls.ts';
import { boundResult, resultEvents, switchEvent, withdrawnQuestion } from './tool-events.ts';

export interface CallDeps {
  /** Whether no person is there to answer: an agent works in the background, or the conversation exists for one answer. */
  readonly isUnattended: boolean;
  readonly log: RunLog;
  readonly recorder: Recorder;
  readonly memory: Memory;
  readonly hands: TunnelHands;
  readonly watch: RunWatch;
  readonly now: () => number;
  /** Makes the run do all steps that are due. Returns at once, and may be called at any time. */
  readonly advance: () => void;
}

export class CallDesk {
  readonly questions: Clarifications;
  readonly #deps: CallDeps;

  constructor(deps: CallDeps) {
    this.#deps = deps;
    this.questions = new Clarifications(deps.log, deps.recorder, this.settle.bind(this));
  }

  /** Settles at once what is refused or needs no one; other calls wait for a person, the app, the bridge or a subagent. */
  begin(call: Call, run: Run): void {
    const { log, recorder, memory, now } = this.#deps;
    const refused = admitCall(call, run) ?? this.#stopRepeated(call, run);
    if (refused) return this.settle(call.callId, refused);
    const { begin } = EXECUTORS[log.toolbox.executorOf(call.name)];
    const begun = begin(call, { run, log, memory, repeated: () => this.#repeated(call) });
    if (begun.type === 'result') return this.settle(call.callId, begun.result);
    if (begun.type === 'handed_over') return;
    log.setDeadline(now() + RUN_LIMITS.approvalMs);
    recorder.record([begun.event]);
  }

  /** Why the machine must ask a person about a call: it changes something, and repeats others; undefined for others. */
  reasonToAsk(call: Call): string | undefined {
    const tool = this.#deps.log.toolbox.find(call.name);
    return tool && canChange(tool) && this.#repeated(call) ? REPEATED_REASON : undefined;
  }

  /** The result of a call that repeats others and could change something, where no person can be asked about it. */
  #stopRepeated(call: Call, run: Run): ToolResult | null {
    const tool = this.#deps.log.toolbox.find(call.name);
    if (!tool || !canChange(tool)) return null;
    if (tool.executor === 'bridge' && !this.#isUnattended(run)) return null;
    const result = this.#repeated(call);
    return result && stopped(result);
  }

  /** A request that says what happens without answers expects that there are none. */
  #isUnattended({ request }: Run): boolean {
    const { unasking, questions } = request;
    const { otherwise, afterSeconds = USUAL_SECONDS } = questions ?? {};
    const isHurried = otherwise !== undefined || afterSeconds < USUAL_SECONDS;
    return [
      this.#deps.isUnattended,
      unasking,
      subagentOf(request)?.isUnattended,
      isHurried,
    ].includes(true);
  }

  #repeated(call: Call): ToolResult | null {
    const { log } = this.#deps;
    const { turns, toolbox, steers } = log;
    const spoken = steers.filter(({ isNote }) => !isNote);
    return repeatedResult(call, {
      turns,
      toolbox,
      spokenAfter: new Set(spoken.map(({ turns: before }) => before ?? -1)),
      resultOf: (turn, index) => log.resultOf(turn, index),
      leftOutThrough: () => log.leftOutThrough(),
    });
  }

  /** The result, with a note where it is that of equal calls before. The guard's own results and others stay. */
  #compared(call: Call, result: ToolResult): ToolResult {
    const tool = this.#deps.log.toolbox.find(call.name);
    if (!tool || canChange(tool)) return result;
    const before = this.#repeated(call);
    return before && isSame(before, result) ? noted(result) : result;
  }

  /** Stores a call's first result; later ones change nothing. `switched` is the mode that the run goes on in. */
  settle(callId: string, result: ToolResult, switched?: RunMode): void {
    const { log, recorder, now, advance, watch } = this.#deps;
    const pending = log.findPending(callId);
    if (!pending) return;
    const { call } = pending;
    const bounded = this.#compared(call, boundResult(result, call.ignored));
    const wasWaiting = recorder.response?.status === 'waiting';
    log.addResult(pending, bounded);
    if (switched && log.current) log.addSwitch(log.current, switched);
    const { toolbox } = log;
    const document = recorder.document(call.documentId);
    recorder.record([
      ...(document ? withdrawnQuestion(document) : []),
      ...resultEvents(call, document, bounded, {
        toolbox,
        sequence: recorder.nextSequence,
        trace: log.current?.request.trace,
      }),
      ...(switched && recorder.response ? [switchEvent(recorder.response.id, switched)] : []),
    ]);
    const tool = toolbox.find(call.name)?.name ?? 'unknown';
    const executor = toolbox.executorOf(call.name);
    const durationMs = now() - pending.turn.atMs;
    watch.settled(log.current, { callId, tool, executor, result: bounded, durationMs });
    // No question is open any more: running calls, and later ones, have the usual time again.
    if (wasWaiting && recorder.response?.status !== 'waiting') {
      log.setDeadline(now() + RUN_LIMITS.callDeadlineMs);
    }
    advance();
  }

  /**
   * Settles the calls that wait for the app, all at once, with its results. The same results again change nothing, and
   * are not new. Returns the sequence of the last document before the answer goes on.
   * @throws {DrawbridgeError} ALREADY_ANSWERED where these calls do not wait; INVALID_REQUEST where a result is missing
   * and nothing is said behind the others.
   */
  settleClientCalls(
    ordinal: number,
    { results, said }: GivenResults,
  ): { readonly sequence: number; readonly isNew: boolean } {
    const { log } = this.#deps;
    const turn = log.turns.findLast(({ calls }) => calls.some((call) => this.#isForClient(call)));
    if (!turn || log.current?.ordinal !== ordinal) throw notWaiting();
    const left = new Map(Object.entries(results));
    const given = turn.calls.flatMap((call, index) => {
      const returned = this.#isForClient(call) && left.get(call.documentId);
      if (!returned) return [];
      left.delete(call.documentId);
      const { text: data, images } = returned;
      const result = boundResult({
        status: 'success',
        data,
        ...(images && { metadata: { images } }),
      });
      const known = log.resultOf(turn.number, index);
      if (known && known.data !== result.data) throw notWaiting();
      return { ...call, result };
    });
    if (left.size > 0) throw notWaiting();
    const waiting = log.pending.filter(({ call }) => this.#isForClient(call));
    const lacking = waiting.filter(({ call }) => results[call.documentId] === undefined);
    const [missing] = lacking;
    if (missing && said.length === 0) {
      const what = `${missing.call.name}, ${missing.call.documentId}`;
      throw new DrawbridgeError(
        'INVALID_REQUEST',
        `The result of a call is missing (${what}): send the results of all calls together`,
      );
    }
    for (const { callId, result } of given) this.settle(callId, result);
    for (const { call } of lacking) this.settle(call.callId, PASSED_OVER);
    return { sequence: turn.lastSequence, isNew: waiting.length > 0 };
  }

  /** Shows live output of a running call. */
  output(callId: string, delta: string): void {
    const { log, recorder } = this.#deps;
    const pending = log.findPending(callId);
    if (!pending) return;
    const { documentId } = pending.call;
    const shown = String(recorder.document(documentId)?.metadata['output'] ?? '').length;
    if (shown + delta.length > MAX_SHOWN_CHARS) return;
    recorder.stream([{ type: 'tool_output', documentId, delta }]);
  }

  /** The calls that have a time limit, and what becomes of each once it is over. */
  get timed(): { readonly call: Call; readonly late: LateCall }[] {
    const { pending, toolbox } = this.#deps.log;
    return pending.flatMap(({ call }) => {
      const { late } = EXECUTORS[toolbox.executorOf(call.name)];
      return late ? [{ call, late }] : [];
    });
  }

  /** Settles the calls whose time is over. Where one of them fails the run, only returns its error. */
  giveUp(): ErrorReport | null {
    const { timed } = this;
    for (const { late } of timed) if (late.type === 'fail') return late.error;
    for (const { call, late } of timed) {
      if (late.type === 'settle') this.settle(call.callId, late.result);
    }
    const calls = timed.map(({ call }) => call);
    this.#recall(calls, this.#deps.log.toolbox);
    return null;
  }

  /** Settles calls of before a restore. The future that was taken back may have run them. */
  lose(calls: readonly Call[]): void {
    for (const { callId } of calls) this.settle(callId, TAKEN_BACK);
    this.#recall(calls, this.#deps.log.toolbox);
  }

  /** Informs the bridge that the conversation no longer waits for these calls of the run, which may have ended. */
  recall(run: Run, pending: readonly PendingCall[]): void {
    const calls = pending.map(({ call }) => call);
    this.#recall(calls, toolboxOf(run));
  }

  #recall(calls: readonly Call[], toolbox: Toolbox): void {
    const delivered = calls.filter(({ name }) => toolbox.executorOf(name) === 'bridge');
    const callIds = delivered.map(({ callId }) => callId);
    if (callIds.length === 0) return;
    // The tunnel keeps the cancel for a bridge that is away. Only a reset of the tunnel's object can lose it, and then
    // the call runs to its end.
    void this.#deps.hands.cancel(callIds).catch(() => undefined);
  }

  /** Ends open questions, and calls that wait for the app: who sends a message instead wants to go on without them. */
  passOver(): void {
    this.questions.passOver();
    for (const { call } of this.#deps.log.pending) {
      if (this.#isForClient(call)) this.settle(call.callId, PASSED_OVER);
    }
  }

  #isForClient({ name }: Call): boolean {
    return this.#deps.log.toolbox.executorOf(name) === 'client';
  }
}

function notWaiting(): DrawbridgeError {
  return new DrawbridgeError(
    'ALREADY_ANSWERED',
    'No answer waits for these results: it has other ones, or has gone on without them, or is over',
  );
}

const PASSED_OVER = failure('NOT_ANSWERED', 'The app sent a message in place of the result.');

/** How long a person has to answer where the request does not say it. */
const USUAL_SECONDS = RUN_LIMITS.approvalMs / SECOND;

const TAKEN_BACK = failure(
  'UNKNOWN_OUTCOME',
  'This conversation was restored from a backup of before this call ended. It may or may not have had its effect: check the state of things before you repeat it.',
);

/** The most live output of one call that is shown, and held in memory: all that Drawbridge's own bridge sends. */
const MAX_SHOWN_CHARS = OUTPUT_LIMITS.maxLiveChars + OUTPUT_LIMITS.coalesceChars;
