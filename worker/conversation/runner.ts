/** The run: a state machine over what is stored. `advance` does the next thing and stores what it came to. */
import type { UserMessage } from '../../shared/documents.ts';
import type { TapeEvent } from '../../shared/events.ts';
import { responseIdOf } from '../../shared/ids.ts';
import { RUN_LIMITS, UPSTREAM_LIMITS } from '../../shared/limits.ts';
import { imagesOf, type MessageContent, textOf } from '../../shared/requests.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { runEdgeTool } from '../tools/edge-tools.ts';
import { passOver } from '../tools/questions.ts';
import { type Fallback, nextModel } from '../upstream/fallback.ts';
import type { Answer } from '../upstream/gateway.ts';
import { retryDelayMs } from '../upstream/retry.ts';
import {
  admitCall,
  isForEdge,
  type LoggedCall,
  logCalls,
  loggedCall,
  toolNameOf,
} from './calls.ts';
import { openQuestions } from './clarifications.ts';
import {
  CANCELLED,
  DEADLINE_PASSED,
  failureOf,
  NOT_ANSWERED,
  NOT_RUN,
  RECOVERY_EXHAUSTED,
  reportOf,
  TURN_LIMIT,
} from './failures.ts';
import { type ModelTurn, modelOf, streamTurn, type TurnDeps } from './model-turn.ts';
import type { Call, Machine, NewTurn, Run, RunRequest, Steer } from './rows.ts';
import { doneEvent, type EndStatus } from './run-end.ts';
import type { Phase } from './run-log.ts';
import type { Schedule } from './schedule.ts';
import {
  boundResult,
  closingEvents,
  type ErrorReport,
  errorDocument,
  resultEvents,
  takenBack,
  withdrawnQuestion,
} from './tool-events.ts';

/** The conversation's bridge, as the run needs it. Every call is idempotent and may throw when the object resets. */
export interface Hands {
  /** The bridge's tools and context; null when there is none or it never connected. */
  describe(): Promise<Machine | null>;
  dispatch(calls: readonly LoggedCall[]): Promise<void>;
  cancel(callIds: readonly string[]): Promise<void>;
}

/** What a run stands on. */
export interface RunnerDeps extends TurnDeps {
  readonly conversationId: string;
  readonly schedule: Schedule;
  readonly hands: Hands;
  /** The tape's head, for the end of a run. */
  readonly head: () => number;
  readonly now: () => number;
  /** Called in the step that ends a run, when its end is stored. Must not throw. */
  readonly onEnd: (ordinal: number) => void;
}

/**
 * Owns the run at work. What is stored is the truth: this object can vanish at any await, and the next one goes on
 * from {@link RunLog.phase}. Only one `advance` is under way at a time.
 */
export class Runner {
  readonly #deps: RunnerDeps;
  /** Aborts the request to the model under way. */
  #asking: AbortController | null = null;
  #advancing = false;
  #again = false;
  /** The run was found mid-answer: an earlier instance died with it. */
  #orphaned: boolean;
  readonly #dispatched = new Set<string>();

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    const { log, now } = deps;
    const { phase } = log;
    this.#orphaned = phase.type === 'asking' && phase.run.notBefore <= now();
  }

  /** Goes on with whatever is to be done; returns at once. Safe to call at any time, any number of times. */
  advance(): void {
    this.#again = true;
    if (!this.#advancing) void this.#loop();
  }

  /**
   * Logs a user's message and the run that answers it, in the caller's synchronous step. The run starts at once when
   * nothing is at work and `machine` is known; else it waits (undefined: the bridge's object could not be asked).
   */
  submit(
    message: UserMessage,
    ordinal: number,
    request: RunRequest,
    machine: Machine | null | undefined,
  ): void {
    const { log, recorder, head } = this.#deps;
    this.#passOverQuestions();
    const said: TapeEvent = { type: 'message', message };
    if (log.current || machine === undefined) {
      recorder.record([said]);
      const first = head() - 1;
      log.submit({ ordinal, status: 'queued', first, started: null, request, machine: null });
    } else {
      recorder.record([said, this.#startEvent(message.responseId, request)]);
      const started = head() - 1;
      log.submit({ ordinal, status: 'running', first: started - 1, started, request, machine });
    }
    this.advance();
  }

  /**
   * Tells the run at work of another message, before its next request to the model; a run that would have ended goes on
   * for it. False when no run is at work.
   */
  steer(message: UserMessage, steer: Pick<Steer, 'content' | 'idempotency'>): boolean {
    const { log, recorder } = this.#deps;
    const run = log.current;
    if (run?.status !== 'running') return false;
    recorder.record([{ type: 'message', message: { ...message, steers: true } }]);
    log.addSteer(run, steer);
    this.#passOverQuestions();
    this.advance();
    return true;
  }

  /** Changes what a message says that still waits. False when its run has started, or ended before. */
  edit(run: Run, content: MessageContent): boolean {
    const { log, recorder, conversationId } = this.#deps;
    if (run.status !== 'queued' || run.last !== null) return false;
    const messages = [...run.request.messages.slice(0, -1), { role: 'user' as const, content }];
    const responseId = responseIdOf(conversationId, run.ordinal);
    const imageCount = imagesOf(content).length;
    recorder.record([
      {
        type: 'message_update',
        responseId,
        content: textOf(content),
        ...(imageCount > 0 && { imageCount }),
      },
    ]);
    log.changeRequest(run, { ...run.request, messages });
    return true;
  }

  /** Stores a call's result, once; later ones and those of unknown calls change nothing. */
  settle(callId: string, result: ToolResult): void {
    const { log, recorder, now } = this.#deps;
    const pending = log.pending.find(({ call }) => call.callId === callId);
    if (!pending) return;
    const bounded = boundResult(result);
    const wasWaiting = recorder.response?.status === 'waiting';
    log.addResult(pending, bounded);
    const { call } = pending;
    const document = recorder.response?.documents.find(({ id }) => id === call.documentId);
    recorder.record([
      ...(document ? withdrawnQuestion(document) : []),
      ...resultEvents(call, bounded, recorder.nextSequence),
    ]);
    // The time that a person was given is over: what still runs, and what comes later, has no more than usual.
    if (wasWaiting && recorder.response?.status !== 'waiting') {
      log.setDeadline(now() + RUN_LIMITS.callDeadlineMs);
    }
    this.advance();
  }

  /** Live output of a call, shown while it runs. */
  output(callId: string, delta: string): void {
    const { log, recorder } = this.#deps;
    const pending = log.pending.find(({ call }) => call.callId === callId);
    if (!pending) return;
    recorder.stream([{ type: 'tool_output', documentId: pending.call.documentId, delta }]);
  }

  /** Ends the run at work, or a queued one, from any device. False when it had ended before. */
  cancel(ordinal: number): boolean {
    const { log, hands } = this.#deps;
    const run = log.runs.find((other) => other.ordinal === ordinal);
    if (!run || run.last !== null) return false;
    if (run.status === 'queued') {
      this.#endRun(run, 'cancelled', []);
      return true;
    }
    const calls = log.pending.map(({ call }) => call.callId);
    this.#endOpenDocuments(CANCELLED);
    this.#endRun(run, 'cancelled', []);
    this.#asking?.abort(new Error('cancelled'));
    // The tunnel keeps the cancel for a bridge that is away; only its own reset can lose it, and then the call runs out.
    if (calls.length > 0) void hands.cancel(calls).catch(() => undefined);
    return true;
  }

  async #loop(): Promise<void> {
    this.#advancing = true;
    while (this.#again) {
      this.#again = false;
      try {
        await this.#step(this.#deps.log.phase);
      } catch (error) {
        console.error('run failed', error);
        this.#failOn(error);
      }
    }
    this.#advancing = false;
  }

  async #step(phase: Phase): Promise<void> {
    switch (phase.type) {
      case 'idle':
        return;
      case 'queued':
        return await this.#start(phase.run);
      case 'asking':
        return await this.#ask(phase.run);
      case 'awaiting_tools':
        return await this.#dispatch(phase);
      default:
        phase satisfies never;
    }
  }

  async #start(run: Run): Promise<void> {
    const { hands, log, recorder, head, conversationId } = this.#deps;
    let machine: Machine | null;
    try {
      machine = await hands.describe();
    } catch {
      // The tunnel's object was reset under the call: the alarm tries again.
      return await this.#retrySoon();
    }
    if (log.current?.ordinal !== run.ordinal || log.current.status !== 'queued') return;
    recorder.record([this.#startEvent(responseIdOf(conversationId, run.ordinal), run.request)]);
    log.start(run, head() - 1, machine);
    this.advance();
  }

  #startEvent(id: string, { model, mode }: RunRequest): TapeEvent {
    const { conversationId, now } = this.#deps;
    const created = new Date(now()).toISOString();
    return { type: 'response_start', response: { id, conversationId, model, mode, created } };
  }

  async #ask(run: Run): Promise<void> {
    const { log, schedule, now } = this.#deps;
    if (this.#orphaned) return this.#takeOver(run);
    if (log.turnsOf(run).length >= RUN_LIMITS.maxTurns) return this.#fail(TURN_LIMIT);
    if (now() < run.notBefore) return await schedule.ensure(run.notBefore);
    await schedule.ensure(now() + RUN_LIMITS.watchdogMs);
    if (log.current?.ordinal !== run.ordinal) return this.advance();
    this.#tellSteers(run);

    const asking = new AbortController();
    this.#asking = asking;
    try {
      this.#takeTurn(run, await streamTurn(run, this.#deps, asking.signal));
    } catch (error) {
      if (!asking.signal.aborted) throw error;
    } finally {
      if (this.#asking === asking) this.#asking = null;
    }
    this.advance();
  }

  #tellSteers(run: Run): void {
    const { log, recorder, conversationId } = this.#deps;
    if (!log.hasWaitingSteer(run)) return;
    recorder.record([{ type: 'steered', responseId: responseIdOf(conversationId, run.ordinal) }]);
    log.placeSteers(run);
  }

  /** An earlier instance died in the middle of this turn: takes back what it showed, and asks again. */
  #takeOver(run: Run): void {
    const { log, recorder } = this.#deps;
    this.#orphaned = false;
    const kept = log.turnsOf(run).at(-1)?.turn.lastSequence ?? 0;
    recorder.record(takenBack(recorder.response?.documents ?? [], kept));
    if (log.takeOver(run) > RUN_LIMITS.maxTakeovers) this.#fail(RECOVERY_EXHAUSTED);
    this.advance();
  }

  #takeTurn(run: Run, { answer, documents, isShown }: ModelTurn): void {
    const { log, recorder, now } = this.#deps;
    if (!isShown && this.#tryAgain(run, answer)) return;
    const { reply } = answer;
    const { events, calls } = documents.end(reply);
    recorder.stream(events); // Committed with what follows in this same step.
    const failure = failureOf(reply);
    const logged = failure ? [] : logCalls(calls, log);
    const { text, reasoning, reasoningDetails, usage } = reply;
    const lastSequence = recorder.nextSequence - 1;
    const said = { text, reasoning, reasoningDetails, usage, lastSequence };
    const turn = { ...said, calls: logged, atMs: now() };
    const isOver = !failure && logged.length === 0 && !log.hasWaitingSteer(run);
    if (isOver) return this.#endRun(run, 'completed', [], turn);
    if (text !== '' || logged.length > 0 || usage) log.addTurn(run, turn);
    if (failure) return this.#fail(failure);
    recorder.commit();
    for (const call of logged) this.#begin(call, run);
  }

  /** A call that is refused, or that the edge itself can answer, is settled at once; the others wait. */
  #begin(call: Call, run: Run): void {
    const { log, recorder, now } = this.#deps;
    const refused = admitCall(call, run);
    if (refused) return this.settle(call.callId, refused);
    const outcome = runEdgeTool(toolNameOf(call), call.arguments, log.todos);
    if (outcome?.type === 'result') this.settle(call.callId, outcome.result);
    if (outcome?.type !== 'questions') return;
    log.setDeadline(now() + RUN_LIMITS.approvalMs);
    const { documentId } = call;
    const { questions } = outcome;
    recorder.record([{ type: 'clarification_request', documentId, questions }]);
  }

  /** Who writes a message instead of an answer wants to go on without it. */
  #passOverQuestions(): void {
    const { log, recorder } = this.#deps;
    for (const { call } of log.pending) {
      const questions = openQuestions(recorder.response, call.documentId);
      if (questions) this.settle(call.callId, passOver(questions));
    }
  }

  /** With the same model while it has attempts, or with the next one. */
  #tryAgain(run: Run, { retry, fallback }: Answer): boolean {
    if (fallback !== 'at_last' && this.#tryAnother(run, fallback)) return true;
    if (retry && this.#tryLater(run, retry.afterMs)) return true;
    return fallback === 'at_last' && this.#tryAnother(run, fallback);
  }

  /** On the tape, so that readers know it and no crash forgets it; it answers to the end of the run. */
  #tryAnother(run: Run, fallback: Fallback): boolean {
    const { log, recorder, settings } = this.#deps;
    const { model: requested, messages } = run.request;
    const said = [...messages, ...log.steersOf(run)];
    const holdsImages = said.some(({ content }) => imagesOf(content).length > 0);
    const failed = modelOf(run, recorder);
    const model = nextModel({ requested, failed, holdsImages }, fallback, settings);
    if (model === null) return false;
    recorder.record([{ type: 'response_model', model }]);
    log.countFailure(run, 0, 0);
    return true;
  }

  /** Stored, because the object may sleep until then: what the upstream asked for holds for its next instance too. */
  #tryLater(run: Run, afterMs: number | null): boolean {
    const { log, now } = this.#deps;
    const failures = run.failures + 1;
    if (failures >= UPSTREAM_LIMITS.maxAttempts) return false;
    const delayMs = afterMs ?? retryDelayMs(failures, Math.random());
    log.countFailure(run, failures, Math.ceil(now() + delayMs));
    return true;
  }

  /** Hands the calls over and returns: the object can sleep while the developer's machine works. */
  async #dispatch({
    run,
    turn,
    pending,
  }: Extract<Phase, { type: 'awaiting_tools' }>): Promise<void> {
    const { hands, log, schedule, now } = this.#deps;
    if (now() >= log.deadlineOf(run, turn)) return this.#giveUp(pending.map(({ call }) => call));
    const fresh = pending.filter(
      ({ call }) => !isForEdge(call) && !this.#dispatched.has(call.callId),
    );
    await schedule.ensure(log.deadlineOf(run, turn));
    if (fresh.length === 0) return;
    try {
      await hands.dispatch(fresh.map(({ call }) => loggedCall(call, run)));
      for (const { call } of fresh) this.#dispatched.add(call.callId);
      await this.#cancelOvertaken(fresh.map(({ call }) => call.callId));
    } catch {
      // The tunnel's object was reset under the call. The calls stay in the log; the alarm sends them again.
      await this.#retrySoon();
    }
  }

  /** A cancel while the calls were handed over may have reached the tunnel before them. */
  async #cancelOvertaken(callIds: readonly string[]): Promise<void> {
    const waiting = new Set(this.#deps.log.pending.map(({ call }) => call.callId));
    const over = callIds.filter((callId) => !waiting.has(callId));
    if (over.length > 0) await this.#deps.hands.cancel(over);
  }

  #giveUp(calls: readonly Call[]): void {
    for (const call of calls) {
      this.settle(call.callId, isForEdge(call) ? NOT_ANSWERED : DEADLINE_PASSED);
    }
    const bridged = calls.filter((call) => !isForEdge(call)).map(({ callId }) => callId);
    if (bridged.length > 0) void this.#deps.hands.cancel(bridged).catch(() => undefined);
  }

  #retrySoon(): Promise<void> {
    return this.#deps.schedule.ensure(this.#deps.now() + RUN_LIMITS.dispatchRetryMs);
  }

  #fail(error: ErrorReport): void {
    const { log, recorder } = this.#deps;
    const run = log.current;
    if (run?.status !== 'running') return;
    this.#endOpenDocuments(NOT_RUN);
    this.#endRun(run, 'error', errorDocument(recorder.nextSequence, error));
  }

  /** Never throws: when not even the failure can be stored, the watchdog comes back to the run. */
  #failOn(thrown: unknown): void {
    try {
      this.#fail(reportOf(thrown));
    } catch (error) {
      console.error('a failed run could not be ended', error);
    }
  }

  #endOpenDocuments(result: ToolResult): void {
    const { log, recorder } = this.#deps;
    const calls = new Map(log.pending.map(({ call }) => [call.documentId, call]));
    const open =
      recorder.response?.documents.filter(({ id }) => recorder.openDocuments.has(id)) ?? [];
    recorder.record(
      open.flatMap((document) => closingEvents(document, calls.get(document.id), result)),
    );
  }

  /** `turn` is the run's last one, where it is not stored yet. */
  #endRun(run: Run, status: EndStatus, last: readonly TapeEvent[], turn?: NewTurn): void {
    const { log, recorder, conversationId, head, now } = this.#deps;
    const startedMs = run.started === null ? now() : Date.parse(recorder.response?.created ?? '');
    const responseId = responseIdOf(conversationId, run.ordinal);
    const turns = [...log.turnsOf(run).map((answered) => answered.turn), ...(turn ? [turn] : [])];
    recorder.record([
      ...last,
      doneEvent(responseId, status, turns, Math.max(0, now() - startedMs)),
    ]);
    if (turn) log.addTurn(run, { ...turn, end: { status, last: head() } });
    else log.end(run, status, head());
    this.#deps.onEnd(run.ordinal);
    this.advance();
  }
}
