/** The run: a state machine over stored rows. `advance` does the next step and stores its outcome. */

import type { AfterRefusal } from '../../../packages/model/index.ts';
import { CUT_NOTE, STOPPED_NOTE } from '../../../packages/prompt/index.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { CallDesk } from '../calls/call-desk.ts';
import { listSequence } from '../calls/plans.ts';
import { takenBack } from '../calls/tool-events.ts';
import type { Deadline } from '../deadlines.ts';
import type { PendingCall, Phase } from '../log/run-log.ts';
import { ERRANDS } from '../store/errands.ts';
import type { Machine, NewTurn, Run } from '../store/rows.ts';
import { type ErrorReport, errorDocument } from '../tape/error-document.ts';
import { type EndStatus, startEvent } from '../tape/run-events.ts';
import { overBudget, reportNearBudget, withBudgetEnd } from './budget.ts';
import type { RunEnding } from './ending.ts';
import {
  CANCELLED,
  DAMAGED,
  failureOf,
  NOT_RUN,
  QUESTIONS_UNANSWERED,
  RECOVERY_EXHAUSTED,
} from './failures.ts';
import { HandOver } from './hand-over.ts';
import {
  afterOf,
  endTurn,
  type ModelTurn,
  streamTurn,
  TurnAsking,
  tryAgain,
} from './model-turn.ts';
import { checkOutput, OUTPUT_INVALID, repairNote, wasRepaired } from './output.ts';
import { inWantedMode } from './own-mode.ts';
import { isEarly, type RunDeadline, stepDeadlines } from './run-deadlines.ts';
import type { RunDeps } from './run-deps.ts';
import { searchAtEnd } from './steps/debug-check.ts';
import { steerStep } from './steps/looks.ts';
import { nextStep } from './steps/next-step.ts';
import { compactedStep } from './steps/own-steps.ts';
import { EMPTY_TURN, turnOf } from './steps/own-turn.ts';
import type { OwnTurn, Step } from './steps/step.ts';
import { worksInOwnTree } from './steps/worktree.ts';

/** Owns the current run. Rows are the truth: it can vanish at any await. Only one `advance` is under way at a time. */
export class Runner {
  readonly #deps: RunDeps;
  readonly #calls: CallDesk;
  readonly #ending: RunEnding;
  readonly #handOver: HandOver;
  #asking: TurnAsking | null = null;
  #advancing = false;
  #again = false;
  /** Whether this instance found the run in the middle of an answer: an earlier instance died with it. */
  #orphaned: boolean;
  /** The ordinal of the run that was running when this instance began; null without one. */
  readonly #found: number | null;
  /** Set when the server has just refused the request. Another form of it may be taken. `first`: what it said at first. */
  #refusal: { readonly first: ErrorReport; readonly after?: AfterRefusal } | null = null;
  /** Ends the wait for the look of the first waiting run. */
  #stopLooking = () => {};

  constructor(deps: RunDeps, calls: CallDesk, ending: RunEnding) {
    this.#deps = deps;
    this.#calls = calls;
    this.#ending = ending;
    this.#handOver = new HandOver(deps, calls);
    const { phase } = deps.log;
    this.#found = phase.type === 'idle' || phase.run.started === null ? null : phase.run.ordinal;
    this.#orphaned = phase.type === 'asking' && !isEarly(phase.run, deps.now());
  }

  /** Does all steps that are due. Returns at once. Safe to call at any time, any number of times. */
  advance(): void {
    this.#again = true;
    if (!this.#advancing) void this.#loop();
  }

  /** Hands all pending calls over again, which changes nothing for those that the bridge has. */
  dispatchAgain(): void {
    this.#handOver.clear();
    this.advance();
  }

  /** The times at which the alarm must call {@link advance} for the current run. */
  deadlines(nowMs: number): Deadline<RunDeadline>[] {
    const due = stepDeadlines(this.#deps.log, this.#calls, this.#handOver, nowMs);
    return withBudgetEnd(due, this.#deps);
  }

  /** Ends the current run if its budget is spent, whatever the run waits for. */
  endOverBudget(): void {
    const run = this.#deps.log.current;
    if (run?.status !== 'running') return;
    const over = overBudget(run, this.#deps);
    if (over) this.#breakOff(run, 'error', over);
  }

  /** Cancels the current run or a waiting run. The run must not have finished. */
  cancel(run: Run): void {
    if (run.status !== 'queued') return this.#breakOff(run, 'cancelled', null);
    if (this.#deps.log.current === run) this.#stopLooking();
    this.#ending.end(run, 'cancelled');
    // A guest's call that waited never reached the tunnel, but its bridge waits for it.
    if (run.request.type !== 'guest') return;
    void this.#deps.hands.cancel([run.request.guest.callId]).catch(() => undefined);
  }

  /** Ends the current run in the middle of what it does. */
  #breakOff(run: Run, status: EndStatus, error: ErrorReport | null): void {
    const { log, recorder } = this.#deps;
    const { pending } = log;
    // These findings belong to this run, not to the next one.
    this.#orphaned = false;
    this.#refusal = null;
    this.#ending.breakOff(error ? NOT_RUN : CANCELLED);
    const last = error ? errorDocument(recorder.nextSequence, error, run.request.trace) : [];
    const turn = this.#asking?.turnSoFar(error ? CUT_NOTE : STOPPED_NOTE, this.#deps);
    this.#ending.end(run, status, last, turn);
    this.#asking?.cancel();
    // The request takes a moment to end, and its text does not belong to the next run.
    this.#asking = null;
    this.#calls.recall(run, pending);
  }

  async #loop(): Promise<void> {
    this.#advancing = true;
    while (this.#again) {
      this.#again = false;
      try {
        await this.#step(this.#deps.log.phase);
        this.#deps.onStep();
      } catch (error) {
        this.#deps.watch.log('run_failed', this.#deps.log.current, { error });
        this.#ending.failOn(error);
      }
    }
    this.#advancing = false;
  }

  async #step(phase: Phase): Promise<void> {
    if (this.#isDamaged && phase.type !== 'idle') return this.#giveUp(phase.run);
    switch (phase.type) {
      case 'idle':
        return;
      case 'queued':
        return await this.#start(phase.run);
      case 'asking':
        return await this.#ask(phase.run);
      case 'awaiting_tools':
        return await this.#awaitTools(phase);
      default:
        phase satisfies never;
    }
  }

  /** Whether rows that the current run needs cannot be read. The run must then end. */
  get #isDamaged(): boolean {
    const { log, recorder } = this.#deps;
    return log.isDamaged || (recorder.isDamaged && log.current?.ordinal === this.#found);
  }

  /** Ends a damaged run. A waiting run is started first, so that its answer can show the error. */
  #giveUp(run: Run): void {
    const { log, recorder, head, advance } = this.#deps;
    const ended = run.ordinal === this.#found ? recorder.endedAs : null;
    if (ended) {
      log.end(run, { status: ended, last: head() }); // The run had ended; only the row of its end is damaged.
      return advance();
    }
    if (run.status === 'queued') this.#begin(run, null);
    this.#ending.fail(DAMAGED);
  }

  async #start(run: Run): Promise<void> {
    const { hands, log, arm } = this.#deps;
    let machine: Machine | null;
    await arm();
    try {
      const { promise: stopped, resolve } = Promise.withResolvers<null>();
      this.#stopLooking = () => resolve(null);
      const look = hands.look((digest) => log.heldOffers(digest), run.request);
      machine = await Promise.race([look, stopped]);
    } catch {
      return await this.#handOver.retrySoon();
    }
    // Read again after the await: the run may have finished, and its message may have changed.
    const waiting = log.current;
    if (waiting?.ordinal !== run.ordinal || waiting.status !== 'queued') return;
    if (waiting.request !== run.request) return this.advance(); // Its mentions may be others now.
    this.#begin(waiting, machine);
    this.advance();
  }

  #begin(run: Run, machine: Machine | null): void {
    const { log, recorder, head, conversationId, now, settings, watch } = this.#deps;
    let { request } = run;
    let refusal: unknown = null;
    try {
      request = inWantedMode(request, machine, settings);
    } catch (error) {
      refusal = error; // The response must begin before it can end.
    }
    if (request !== run.request) log.changeRequest(run, request);
    recorder.record([startEvent(conversationId, { ...run, request, machine }, now())]);
    log.start({ ...run, request }, head() - 1, machine);
    watch.started({ ...run, request });
    if (refusal) this.#ending.failOn(refusal);
  }

  async #ask(run: Run): Promise<void> {
    const { log, arm, now } = this.#deps;
    if (this.#orphaned) return this.#takeOver(run);
    const step = nextStep(run, this.#deps);
    if (step) return await this.#take(run, step);
    await arm();
    if (isEarly(run, now())) return;
    if (log.current?.ordinal !== run.ordinal) return this.advance();

    const asking = new TurnAsking();
    this.#asking = asking;
    try {
      await this.#askWith(run, asking);
    } catch (error) {
      if (!asking.signal.aborted) throw error;
    } finally {
      if (this.#asking === asking) this.#asking = null;
    }
    this.advance();
  }

  async #askWith(run: Run, asking: TurnAsking): Promise<void> {
    const { signal } = asking;
    if (ERRANDS[run.request.type].asks === 'summary') {
      const summary = await this.#deps.memory.compact(run, signal);
      return await this.#take(run, compactedStep(summary, this.#deps));
    }
    const refusal = this.#refusal;
    if (refusal) this.#refusal = { first: refusal.first }; // Another attempt at the same form is no further step.
    const { memory } = this.#deps;
    reportNearBudget(run, this.#deps);
    const prepared = await memory.prepareTurn(run, { signal, after: refusal?.after });
    const over = overBudget(run, this.#deps); // A summary may have spent the rest.
    if (over) return this.#ending.fail(over);
    // One that arrived meanwhile is looked up first, and sent with the others.
    if (prepared && steerStep(run, this.#deps)) return;
    if (prepared) {
      // In the same step in which `prepareTurn` read them.
      const { log, recorder, conversationId } = this.#deps;
      const responseId = responseIdOf(conversationId, run.ordinal);
      if (log.hasWaitingSteer) recorder.record([{ type: 'steered', responseId }]);
      log.placeSteers(run);
      this.#takeTurn(run, await streamTurn(run, prepared, this.#deps, asking));
    } else if (refusal) this.#failRefused(run, refusal.first);
  }

  #failRefused(run: Run, failure: ErrorReport): void {
    this.#refusal = null;
    this.#deps.memory.refused(run);
    this.#ending.fail(failure);
  }

  async #take(run: Run, step: Step): Promise<void> {
    const { log, recorder, arm, advance } = this.#deps;
    switch (step.type) {
      case 'fail':
        return this.#ending.fail(step.error);
      case 'end':
        return this.#ending.end(run, step.status, step.events, step.turn);
      case 'show':
        recorder.record(step.events);
        break;
      case 'note':
        log.addNote(run, step.note);
        break;
      case 'turn':
        this.#takeOwnTurn(run, step);
        break;
      case 'look':
        await Promise.all([arm(), step.look()]);
        break;
      default:
        step satisfies never;
    }
    advance();
  }

  /** Stores and shows a turn that asks no model. */
  #takeOwnTurn(run: Run, step: OwnTurn): void {
    const { log, recorder, now } = this.#deps;
    if (step.events) recorder.record(step.events);
    if (step.request) log.changeRequest(run, step.request);
    const { events, calls } = turnOf(step.calls, run, recorder.nextSequence);
    recorder.stream(events);
    const lastSequence = recorder.nextSequence - 1;
    this.#handOver.clear();
    log.addTurn(run, { ...EMPTY_TURN, own: step.own, calls, lastSequence, atMs: now() });
    recorder.commit();
    for (const call of calls) {
      if (step.result) this.#calls.settle(call.callId, step.result);
      else if (step.isChecked) this.#calls.begin(call, run);
    }
  }

  /** Takes back what an earlier instance showed of this turn before it died. The turn is then asked again. */
  #takeOver(run: Run): void {
    const { log, recorder } = this.#deps;
    this.#orphaned = false;
    const kept = log.turns.at(-1)?.lastSequence ?? listSequence(run.request);
    recorder.record(takenBack(recorder.response?.documents ?? [], kept));
    if (log.takeOver(run) > RUN_LIMITS.maxTakeovers) this.#ending.fail(RECOVERY_EXHAUSTED);
    this.advance();
  }

  #takeTurn(run: Run, modelTurn: ModelTurn): void {
    const { log, recorder, memory } = this.#deps;
    const { answer, isShown } = modelTurn;
    if (!isShown && tryAgain(run, answer, this.#deps)) return;
    const failure = failureOf(answer.reply);
    const first = this.#refusal?.first ?? failure;
    const after = afterOf(answer, failure);
    if (!isShown && after && first) {
      this.#refusal = { first, after };
      return;
    }
    if (failure && first && this.#refusal) return this.#failRefused(run, first);
    const left = failure ? null : memory.answered(run, this.#refusal?.first);
    this.#refusal = null;
    const turn = endTurn(run, modelTurn, left, this.#deps);
    const { text, calls, usage } = turn;
    this.#handOver.clear();
    const isOver = !failure && calls.length === 0 && !log.hasWaitingSteer;
    const search = isOver ? searchAtEnd(run, this.#deps) : undefined;
    if (isOver && !search && !worksInOwnTree(run)) return this.#finish(run, turn);
    if (text !== '' || calls.length > 0 || usage) log.addTurn(run, turn);
    if (failure) return this.#ending.fail(failure);
    recorder.commit();
    if (search) this.#takeOwnTurn(run, search);
    else for (const call of calls) this.#calls.begin(call, run);
  }

  /** Ends the run with its last turn. Where JSON is wanted, the model may repair its answer once. */
  #finish(run: Run, turn: NewTurn): void {
    const { log, recorder, advance } = this.#deps;
    const { output: form } = run.request;
    const checked = form && checkOutput(turn.text, form);
    if (!checked || 'json' in checked) {
      const output = checked && { output: checked.json };
      return this.#ending.end(run, 'completed', [], { ...turn, ...output });
    }
    const isLast = wasRepaired(log.steers);
    log.addTurn(run, turn);
    if (isLast) return this.#ending.fail({ ...OUTPUT_INVALID, details: checked.problem });
    recorder.commit();
    log.addNote(run, repairNote(checked.problem));
    advance();
  }

  async #awaitTools({ run, turn, pending }: Phase & { type: 'awaiting_tools' }): Promise<void> {
    const { log, arm, now, subagents } = this.#deps;
    const { questions, timed } = this.#calls;
    const unansweredAt = questions.unansweredAt(run, turn);
    if (unansweredAt !== null && now() >= unansweredAt) {
      if (run.request.questions?.otherwise !== 'stop') return questions.answerThemselves(run);
      return this.#stop(run, pending, QUESTIONS_UNANSWERED);
    }
    if (timed.length > 0 && now() >= log.deadlineOf(run, turn)) {
      const error = this.#calls.giveUp();
      return error ? this.#stop(run, pending, error) : undefined;
    }
    subagents.advance();
    await arm();
    // Looks again after the await: calls that were cancelled or settled meanwhile must not be handed over.
    await this.#handOver.handOver(run, turn);
  }

  #stop(run: Run, pending: readonly PendingCall[], why: ErrorReport): void {
    this.#ending.fail(why);
    this.#calls.recall(run, pending);
  }
}
