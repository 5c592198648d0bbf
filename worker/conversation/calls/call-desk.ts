/** The calls of the current run: begins each call, shows its output, and settles it once. */

import type { GivenResults } from '../../../shared/api/app-results.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { OUTPUT_LIMITS, RUN_LIMITS } from '../../../shared/limits.ts';
import { switchMode } from '../../../shared/tools/switch-mode.ts';
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import { SECOND } from '../../../shared/units.ts';
import type { Answer, Question } from '../../../shared/wire/documents.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { findMode, modeOf, nameOfMode, namesOfModes } from '../log/modes.ts';
import { toolboxOf } from '../log/offered-tools.ts';
import type { PendingCall, RunLog } from '../log/run-log.ts';
import type { Memory } from '../memory/prepare-turn.ts';
import type { RunWatch } from '../run-watch.ts';
import { subagentOf } from '../store/errands.ts';
import type { Call, Run, RunMode, Turn } from '../store/rows.ts';
import type { Recorder } from '../tape/recorder.ts';
import { spentSoFar } from '../tape/spending.ts';
import { admitCall } from './calls.ts';
import { openQuestions } from './clarifications.ts';
import { runEdgeTool } from './edge-tools/edge-tools.ts';
import { answerByDefault, answerQuestions, passOver } from './edge-tools/questions.ts';
import { agrees, STAYS, switchResult } from './edge-tools/switch-mode.ts';
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
  readonly #deps: CallDeps;

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  /** Settles a refused call, or a call that the edge answers itself, at once; calls for the bridge and for subagents wait. */
  begin(call: Call, run: Run): void {
    const { log, recorder, memory, now } = this.#deps;
    const { toolbox } = log;
    const refused = admitCall(call, run) ?? this.#stopRepeated(call, run);
    if (refused) return this.settle(call.callId, refused);
    const executor = toolbox.executorOf(call.name);
    if (executor === 'client') return this.#waitForClient(call, run);
    if (executor !== 'edge') return;
    const modes = { present: nameOfMode(modeOf(run)), all: namesOfModes(run.machine) };
    const here = { todos: memory.todos, modes };
    const outcome = runEdgeTool(toolbox.nameOf(call.name), call.arguments, here);
    if (outcome?.type === 'result') this.settle(call.callId, outcome.result);
    if (outcome?.type !== 'questions') return;
    const answered = this.#repeated(call);
    if (answered) return this.settle(call.callId, answered); // A person is not asked a third time.
    log.setDeadline(now() + RUN_LIMITS.approvalMs);
    const { documentId } = call;
    const { questions } = outcome;
    recorder.record([{ type: 'clarification_request', documentId, questions }]);
  }

  /** An app may have to ask its own user, who gets as much time as others. */
  #waitForClient({ documentId }: Call, run: Run): void {
    const { log, recorder, now } = this.#deps;
    log.setDeadline(now() + RUN_LIMITS.approvalMs);
    const turns = log.turns.filter(({ own }) => !own);
    const spent = spentSoFar({ turns, windows: log.windowsOf(run), tasks: log.tasks });
    recorder.record([{ type: 'client_call', documentId, ...(spent && { spent }) }]);
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

  /** Settles questions with a person's answers. Throws INVALID_REQUEST for answers that do not fit the questions. */
  answer(call: Call, questions: readonly Question[], answers: readonly Answer[]): void {
    const answered = answerQuestions(questions, answers);
    const mode = this.#proposedBy(call);
    if (mode === null) return this.settle(call.callId, answered);
    const { current } = this.#deps.log;
    const found = agrees(answers) ? findMode(mode, current?.machine ?? null) : undefined;
    this.settle(call.callId, switchResult(mode, found !== undefined, answered), found);
  }

  /** The mode that a call of `switch_mode` asks for; null for another call. */
  #proposedBy({ name, arguments: args }: Call): string | null {
    if (this.#deps.log.toolbox.nameOf(name) !== switchMode.name) return null;
    return switchMode.arguments.parse(args).mode;
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
    const isForClient = ({ name }: Call) => log.toolbox.executorOf(name) === 'client';
    const turn = log.turns.findLast(({ calls }) => calls.some(isForClient));
    if (!turn || log.current?.ordinal !== ordinal) throw notWaiting();
    const left = new Map(Object.entries(results));
    const given = turn.calls.flatMap((call, index) => {
      const returned = isForClient(call) && left.get(call.documentId);
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
    const waiting = log.pending.filter(({ call }) => isForClient(call));
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

  /** Settles calls whose time is over. */
  giveUp(calls: readonly Call[]): void {
    const { toolbox } = this.#deps.log;
    for (const { callId, name } of calls) {
      const isForEdge = toolbox.executorOf(name) === 'edge';
      this.settle(callId, isForEdge ? NOT_ANSWERED : DEADLINE_PASSED);
    }
    this.#recall(calls, toolbox);
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

  /** When the open questions of the turn count as unanswered by the run's request; null without such questions. */
  unansweredAt({ request }: Run, turn: Turn): number | null {
    if (!request.questions || this.#open().length === 0) return null;
    return turn.atMs + request.questions.afterSeconds * SECOND;
  }

  /** Settles the open questions as the run's request says where no one answers. */
  answerThemselves({ request }: Run): void {
    for (const { call, questions } of this.#open()) {
      if (this.#proposedBy(call) !== null) this.settle(call.callId, NOT_SWITCHED);
      else if (request.questions?.otherwise !== 'default') this.settle(call.callId, NOT_ANSWERED);
      else this.settle(call.callId, answerByDefault(questions));
    }
  }

  /** The calls that wait for a person's answer to their questions. */
  #open(): { readonly call: Call; readonly questions: readonly Question[] }[] {
    const { log, recorder } = this.#deps;
    return log.pending.flatMap(({ call }) => {
      const questions = openQuestions(recorder.response, call.documentId);
      return questions ? [{ call, questions }] : [];
    });
  }

  /** Ends open questions, and calls that wait for the app: who sends a message instead wants to go on without them. */
  passOverQuestions(): void {
    for (const { call, questions } of this.#open()) {
      this.settle(call.callId, passOver(questions));
    }
    const { pending, toolbox } = this.#deps.log;
    for (const { call } of pending) {
      if (toolbox.executorOf(call.name) === 'client') this.settle(call.callId, PASSED_OVER);
    }
  }
}

function notWaiting(): DrawbridgeError {
  return new DrawbridgeError(
    'ALREADY_ANSWERED',
    'No answer waits for these results: it has other ones, or has gone on without them, or is over',
  );
}

const PASSED_OVER = failure('NOT_ANSWERED', 'The app sent a message in place of the result.');

const NOT_ANSWERED = failure(
  'NOT_ANSWERED',
  'No one answered in time. Decide yourself, or end and say what is open.',
);

const NOT_SWITCHED = failure('NOT_ANSWERED', `No one answered in time. ${STAYS}`);

/** How long a person has to answer where the request does not say it. */
const USUAL_SECONDS = RUN_LIMITS.approvalMs / SECOND;

const DEADLINE_PASSED = failure(
  'DEADLINE_PASSED',
  'The bridge gave no result in time. Whether the call had any effect is unknown: check before you repeat it.',
);

const TAKEN_BACK = failure(
  'UNKNOWN_OUTCOME',
  'This conversation was restored from a backup of before this call ended. It may or may not have had its effect: check the state of things before you repeat it.',
);

/** The most live output of one call that is shown, and held in memory: all that Drawbridge's own bridge sends. */
const MAX_SHOWN_CHARS = OUTPUT_LIMITS.maxLiveChars + OUTPUT_LIMITS.coalesceChars;
