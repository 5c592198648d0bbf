/** The run: a state machine over stored rows. `advance` does the next step and stores its outcome. */
import { responseIdOf } from '../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { CUT_NOTE, STOPPED_NOTE } from '../../prompt/context.ts';
import { CONTEXT_LENGTH_EXCEEDED } from '../../upstream/context-overflow.ts';
import { UPSTREAM_LIMITS } from '../../upstream/limits.ts';
import type { UpstreamReply } from '../../upstream/reader.ts';
import type { CallDesk } from '../calls/call-desk.ts';
import { logCalls, loggedCall, ownCall } from '../calls/calls.ts';
import { atStart, listEvents, listSequence } from '../calls/plans.ts';
import { takenBack } from '../calls/tool-events.ts';
import type { Deadline } from '../deadlines.ts';
import { toolboxOf } from '../log/offered-tools.ts';
import type { PendingCall, Phase, RunLog } from '../log/run-log.ts';
import { modelOf, type PreparedTurn } from '../memory/prepare-turn.ts';
import type { Call, Machine, NewTurn, Run } from '../store/rows.ts';
import { type ErrorReport, errorDocument } from '../tape/error-document.ts';
import { TAPE_LIMITS } from '../tape/limits.ts';
import { type EndStatus, startEvent } from '../tape/run-events.ts';
import { overBudget, tellNearBudget, withBudgetEnd } from './budget.ts';
import type { Ending } from './ending.ts';
import {
  CANCELLED,
  DAMAGED,
  failureOf,
  NOT_RUN,
  QUESTIONS_UNANSWERED,
  RECOVERY_EXHAUSTED,
} from './failures.ts';
import { Asking, type ModelTurn, streamTurn, tryAgain } from './model-turn.ts';
import { inWantedMode } from './own-mode.ts';
import type { RunDeps } from './run-deps.ts';
import { afterCheck, searchesAtEnd } from './steps/debug-check.ts';
import { lookAtWorktree, lookUpMentions, unseenSteers } from './steps/looks.ts';
import {
  EMPTY_TURN,
  type GuestRequest,
  guestCall,
  type OwnCall,
  turnOf,
} from './steps/own-turn.ts';
import { type PlanStep, planStep } from './steps/plan-files.ts';
import { closeCall, type WorktreeStep, worksInOwnTree, worktreeStep } from './steps/worktree.ts';

/**
 * What a run waits for. `watchdog`: any progress. `attempt`: its next attempt with the model. `bridge`: a bridge that
 * could not be reached. `calls`: the end of the time for its calls. `questions`: the end of the time for answers.
 * `budget`: the end of the time of its budget.
 */
export type RunDeadline = 'watchdog' | 'attempt' | 'bridge' | 'calls' | 'questions' | 'budget';

/**
 * Owns the run at work. Stored rows are the truth: this object can vanish at any await, and the next instance continues
 * from {@link RunLog.phase}. Only one `advance` is under way at a time.
 */
export class Runner {
  readonly #deps: RunDeps;
  readonly #calls: CallDesk;
  readonly #ending: Ending;
  #asking: Asking | null = null;
  #advancing = false;
  #again = false;
  /** Whether this instance found the run in the middle of an answer: an earlier instance died with it. */
  #orphaned: boolean;
  /** The ordinal of the run that was at work when this instance began; null without one. */
  readonly #found: number | null;
  /** Set when the model has just refused the request as too long. A shorter request may succeed. */
  #refusal: ErrorReport | null = null;
  readonly #dispatched = new Set<string>();
  /** Ends the wait for the look of the first waiting run. */
  #stopLooking = () => {};
  /** When the bridge is asked again after its object was reset during a call. */
  #bridgeAtMs = 0;

  constructor(deps: RunDeps, calls: CallDesk, ending: Ending) {
    this.#deps = deps;
    this.#calls = calls;
    this.#ending = ending;
    const { phase } = deps.log;
    this.#found = phase.type === 'idle' || phase.run.started === null ? null : phase.run.ordinal;
    this.#orphaned = phase.type === 'asking' && !isEarly(phase.run, deps.now());
  }

  /** Does all steps that are due. Returns at once. Safe to call at any time, any number of times. */
  advance(): void {
    this.#again = true;
    if (!this.#advancing) void this.#loop();
  }

  /** The times at which the alarm must call {@link advance} for the run at work. */
  deadlines(nowMs: number): Deadline<RunDeadline>[] {
    return withBudgetEnd(this.#stepDeadlines(nowMs), this.#deps);
  }

  #stepDeadlines(nowMs: number): Deadline<RunDeadline>[] {
    const { log } = this.#deps;
    const { phase } = log;
    const bridge = { name: 'bridge' as const, atMs: this.#bridgeAtMs };
    switch (phase.type) {
      case 'idle':
        return [];
      case 'queued':
        return [bridge];
      case 'asking':
        return isEarly(phase.run, nowMs)
          ? [{ name: 'attempt', atMs: phase.run.notBefore }]
          : [{ name: 'watchdog', atMs: nowMs }];
      case 'awaiting_tools': {
        const { run, turn, pending } = phase;
        const isTimed = timed(pending, log).length > 0;
        const calls = { name: 'calls' as const, atMs: log.deadlineOf(run, turn) };
        const atMs = this.#calls.unansweredAt(run, turn);
        const questions = atMs === null ? [] : [{ name: 'questions' as const, atMs }];
        const bridges = this.#undelivered.length > 0 ? [bridge] : [];
        return [...bridges, ...(isTimed ? [calls] : []), ...questions];
      }
      default:
        return phase satisfies never;
    }
  }

  /** Ends the run at work if its budget is spent, whatever the run waits for. */
  endOverBudget(): void {
    const run = this.#deps.log.current;
    if (run?.status !== 'running') return;
    const over = overBudget(run, this.#deps);
    if (over) this.#breakOff(run, 'error', over);
  }

  /** Cancels the run at work or a waiting run. The run must not have ended. */
  cancel(run: Run): void {
    if (run.status !== 'queued') return this.#breakOff(run, 'cancelled', null);
    if (this.#deps.log.current === run) this.#stopLooking();
    this.#ending.end(run, 'cancelled');
    this.#recallGuest(run);
  }

  /** Ends the run at work in the middle of what it does. */
  #breakOff(run: Run, status: EndStatus, error: ErrorReport | null): void {
    const calls = this.#deps.log.pending.map(({ call }) => call);
    // These findings belong to this run, not to the next one.
    this.#orphaned = false;
    this.#refusal = null;
    this.#ending.breakOff(error ? NOT_RUN : CANCELLED);
    const last = error
      ? errorDocument(this.#deps.recorder.nextSequence, error, run.request.trace)
      : [];
    this.#ending.end(run, status, last, this.#saidSoFar(error ? CUT_NOTE : STOPPED_NOTE));
    this.#asking?.cancel();
    // The request takes a moment to end, and its text does not belong to the next run.
    this.#asking = null;
    this.#calls.recall(calls, toolboxOf(run));
  }

  /** A guest's call that waited never reached the tunnel, but its bridge waits for it. */
  #recallGuest({ request: { guest } }: Run): void {
    if (guest) void this.#deps.hands.cancel([guest.callId]).catch(() => undefined);
  }

  /** The text that followers saw of a broken answer, stored as a turn so that the model is told of it. */
  #saidSoFar(note: string): NewTurn | undefined {
    const { recorder, now } = this.#deps;
    // Cut to the length of a row: a cancel must not fail because the text is too long.
    const said = this.#asking?.said.slice(0, TAPE_LIMITS.maxRowChars).toWellFormed();
    if (!said) return undefined;
    const text = `${said}\n\n${note}`;
    const lastSequence = recorder.nextSequence - 1;
    const model = recorder.response?.model;
    return { text, reasoning: null, calls: [], model, usage: null, lastSequence, atMs: now() };
  }

  async #loop(): Promise<void> {
    this.#advancing = true;
    while (this.#again) {
      this.#again = false;
      try {
        await this.#step(this.#deps.log.phase);
        this.#deps.onStep();
      } catch (error) {
        this.#deps.watch.tell('run_failed', this.#deps.log.current, { error });
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
        return await this.#dispatch(phase);
      default:
        phase satisfies never;
    }
  }

  /** Whether rows that the run at work needs cannot be read. The run must then end. */
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
      // The tunnel's object was reset during the call: the alarm tries again.
      return await this.#retrySoon();
    }
    // Read again after the await: the run may have ended, and its message may have changed.
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
    if (run.request.guest) return this.#takeGuestCall(run, run.request.guest);
    if (this.#endChecked(run)) return;
    this.#listTodos(run);
    if (worksInOwnTree(run)) {
      const next = worktreeStep(run, this.#deps);
      if (next.type === 'look') return await this.#lookFirst(lookAtWorktree(run, this.#deps));
      if (this.#takeWorktreeStep(run, next)) return;
    }
    const step = planStep(run, this.#deps);
    if (step) return this.#takePlanStep(run, step);
    const over = overBudget(run, this.#deps);
    if (over) return this.#ending.fail(over);
    const unseen = unseenSteers(this.#deps);
    if (unseen.length > 0) {
      return await this.#lookFirst(lookUpMentions(run, unseen, this.#deps));
    }
    await arm();
    if (isEarly(run, now())) return;
    if (log.current?.ordinal !== run.ordinal) return this.advance();

    const asking = new Asking();
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

  /** The next step follows from what the look has stored. */
  async #lookFirst(look: Promise<void>): Promise<void> {
    await Promise.all([this.#deps.arm(), look]);
    this.advance();
  }

  async #askWith(run: Run, asking: Asking): Promise<void> {
    const { signal } = asking;
    const refusal = this.#refusal;
    this.#refusal = null;
    const { memory } = this.#deps;
    tellNearBudget(run, this.#deps);
    const prepared = await memory.prepareTurn(run, { signal, isRefused: refusal !== null });
    const over = overBudget(run, this.#deps); // A summary may have spent the rest.
    if (over) return this.#ending.fail(over);
    // One that arrived meanwhile is looked up first, and told with the others.
    if (prepared && unseenSteers(this.#deps).length > 0) return;
    if (prepared) {
      this.#tellSteers(run); // In the same step in which `prepareTurn` read them.
      this.#takeTurn(run, await streamTurn(run, prepared, this.#deps, asking));
    } else if (refusal) this.#ending.fail(refusal);
  }

  /** A guest's run has one turn, with the guest's call; it ends with the call's result. */
  #takeGuestCall(run: Run, guest: GuestRequest): void {
    if (this.#deps.log.turns.length > 0) return this.#ending.end(run, 'completed');
    for (const call of this.#takeOwnTurn(run, [guestCall(guest)])) {
      this.#calls.begin(call, run);
    }
    this.advance();
  }

  #takePlanStep(run: Run, step: PlanStep): void {
    const { log } = this.#deps;
    switch (step.type) {
      case 'fail':
        return this.#ending.fail(step.report);
      case 'end':
        return this.#ending.end(run, step.status, step.events, step.turn);
      case 'call':
        for (const call of this.#takeOwnTurn(run, [step.call], 'plan')) {
          this.#calls.begin(call, run);
        }
        return this.advance();
      case 'plan':
        log.changeRequest(run, { ...run.request, plan: atStart(step.plan) });
        for (const { callId } of this.#takeOwnTurn(run, [step.call], 'plan')) {
          this.#calls.settle(callId, step.result);
        }
        return this.advance();
      default:
        step satisfies never;
    }
  }

  /** Stores and shows a turn that asks no model. */
  #takeOwnTurn(run: Run, own: readonly OwnCall[], what?: NewTurn['own']): readonly Call[] {
    const { log, recorder, now } = this.#deps;
    const { events, calls } = turnOf(own, run, recorder.nextSequence);
    recorder.stream(events);
    const lastSequence = recorder.nextSequence - 1;
    this.#dispatched.clear(); // Removes the calls of the turn before.
    log.addTurn(run, {
      ...EMPTY_TURN,
      ...(what && { own: what }),
      calls,
      lastSequence,
      atMs: now(),
    });
    recorder.commit();
    return calls;
  }

  /** Ends a debug run whose files were searched, or lets the model go on. True when the run has ended. */
  #endChecked(run: Run): boolean {
    const { log, recorder } = this.#deps;
    const after = afterCheck(this.#deps);
    if (after?.type !== 'end') {
      if (after?.note) log.addNote(run, after.note);
      return false;
    }
    const { trace } = run.request;
    const last = after.report ? errorDocument(recorder.nextSequence, after.report, trace) : [];
    if (worksInOwnTree(run)) {
      recorder.record(last);
      this.#takeOwnTurn(run, [closeCall(run, this.#deps)], 'worktree');
      this.advance();
    } else this.#ending.end(run, 'completed', last);
    return true;
  }

  /** Does the next step of a run in a worktree, unless the model is next. */
  #takeWorktreeStep(run: Run, step: Exclude<WorktreeStep, { type: 'look' }>): boolean {
    if (step.type === 'ask') return false;
    if (step.type === 'end') this.#ending.end(run, step.status);
    else if (step.type === 'fail') this.#ending.fail(step.error);
    else this.#takeOwnTurn(run, [step.call], 'worktree');
    this.advance();
    return true;
  }

  /** A run that executes a plan begins its answer with the plan's todos as the list, once. */
  #listTodos({ request }: Run): void {
    const { recorder } = this.#deps;
    if (!request.plan || listSequence(request) < recorder.nextSequence) return;
    recorder.record(listEvents(request.plan));
  }

  #tellSteers(run: Run): void {
    const { log, recorder, conversationId } = this.#deps;
    if (log.hasWaitingSteer) {
      recorder.record([{ type: 'steered', responseId: responseIdOf(conversationId, run.ordinal) }]);
    }
    log.placeSteers(run);
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

  #takeTurn(run: Run, { answer, documents, isShown, prepared }: ModelTurn): void {
    const { log, recorder, now } = this.#deps;
    if (!isShown && tryAgain(run, answer, this.#deps)) return;
    const { reply } = answer;
    const failure = failureOf(reply);
    if (!isShown && failure?.code === CONTEXT_LENGTH_EXCEEDED) {
      this.#refusal = failure;
      return;
    }
    const { events, calls } = documents.end(reply);
    recorder.stream(events); // Committed with the next commit, in this same step.
    this.#tellCut(run, prepared, reply);
    const toolbox = toolboxOf(run);
    const logged = failure ? [] : logCalls(calls, prepared.usedIds(), toolbox);
    this.#dispatched.clear(); // Removes the calls of the turn before.
    const { text, reasoning, reasoningDetails, usage } = reply;
    const lastSequence = recorder.nextSequence - 1;
    const said = { text, reasoning, reasoningDetails, usage, lastSequence };
    const estimate = run.request.budget && !usage ? prepared.estimate(reply) : undefined;
    const model = modelOf(run, recorder);
    const turn = { ...said, model, estimate, calls: logged, atMs: now() };
    const isOver = !failure && logged.length === 0 && !log.hasWaitingSteer;
    const searches = isOver ? searchesAtEnd(run, this.#deps) : [];
    const isLast = isOver && searches.length === 0;
    if (isLast && !worksInOwnTree(run)) return this.#ending.end(run, 'completed', [], turn);
    if (text !== '' || logged.length > 0 || usage) log.addTurn(run, turn);
    if (failure) return this.#ending.fail(failure);
    recorder.commit();
    if (searches.length > 0) return void this.#takeOwnTurn(run, searches, 'check');
    for (const call of logged) this.#calls.begin(call, run);
  }

  /** Reports a prompt that the server cut. Once per response: its later turns would be cut as well. */
  #tellCut({ request: { trace } }: Run, prepared: PreparedTurn, { usage }: UpstreamReply): void {
    const { recorder } = this.#deps;
    const isTold = recorder.response?.documents.some(
      ({ metadata }) => metadata['errorCode'] === CONTEXT_LENGTH_EXCEEDED,
    );
    const report = isTold ? null : prepared.cutReport(usage);
    if (report) recorder.stream(errorDocument(recorder.nextSequence, report, trace));
  }

  /** Hands the calls to the bridge and returns: the object can sleep while the developer's machine works. */
  async #dispatch({
    run,
    turn,
    pending,
  }: Extract<Phase, { type: 'awaiting_tools' }>): Promise<void> {
    const { hands, log, arm, now, advanceSubagents } = this.#deps;
    const unansweredAt = this.#calls.unansweredAt(run, turn);
    if (unansweredAt !== null && now() >= unansweredAt) return this.#endQuestions(run, pending);
    const late = now() >= log.deadlineOf(run, turn) ? timed(pending, log) : [];
    if (late.length > 0) return this.#calls.giveUp(late.map(({ call }) => call));
    advanceSubagents();
    await arm();
    // Read after the await: calls that were cancelled or settled meanwhile must not be handed over.
    const fresh = this.#undelivered;
    if (fresh.length === 0) return;
    if (this.#deps.wasTakenBack(turn.atMs)) return this.#calls.lose(fresh.map(({ call }) => call));
    try {
      const logged = ({ call }: PendingCall) =>
        turn.own === 'worktree'
          ? ownCall(call, run)
          : loggedCall(call, run, this.#calls.reasonToAsk(call));
      await hands.dispatch(fresh.map(logged));
      for (const { call } of fresh) this.#dispatched.add(call.callId);
      await this.#cancelOvertaken(fresh.map(({ call }) => call.callId));
    } catch {
      // The tunnel's object was reset during the call. The calls stay in the log; the alarm sends them again.
      await this.#retrySoon();
    }
  }

  /** Nobody has answered in the time that the request gives. */
  #endQuestions(run: Run, pending: readonly PendingCall[]): void {
    if (run.request.questions?.otherwise !== 'stop') return this.#calls.answerThemselves(run);
    this.#ending.fail(QUESTIONS_UNANSWERED);
    const calls = pending.map(({ call }) => call);
    this.#calls.recall(calls, toolboxOf(run));
  }

  /** The pending calls for the bridge that this instance has not handed over. */
  get #undelivered(): PendingCall[] {
    const { pending, toolbox } = this.#deps.log;
    return pending.filter(
      ({ call }) =>
        toolbox.executorOf(call.name) === 'bridge' && !this.#dispatched.has(call.callId),
    );
  }

  /**
   * Cancels calls that ended during the hand-over: the first cancel may have reached the tunnel before them and been
   * lost in a reset.
   */
  async #cancelOvertaken(callIds: readonly string[]): Promise<void> {
    const waiting = new Set(this.#deps.log.pending.map(({ call }) => call.callId));
    const over = callIds.filter((callId) => !waiting.has(callId));
    if (over.length > 0) await this.#deps.hands.cancel(over);
  }

  #retrySoon(): Promise<void> {
    this.#bridgeAtMs = this.#deps.now() + RUN_LIMITS.dispatchRetryMs;
    return this.#deps.arm();
  }
}

/** The calls that have a time limit. Subagents have limits of their own, and are asked for their state. */
function timed(pending: readonly PendingCall[], { toolbox }: RunLog): PendingCall[] {
  return pending.filter(({ call }) => toolbox.executorOf(call.name) !== 'agent');
}

/** Whether the run waits for its next attempt. A wait above maxRetryAfterMs means that the clock was set back. */
function isEarly({ notBefore }: Run, nowMs: number): boolean {
  return nowMs < notBefore && notBefore - nowMs <= UPSTREAM_LIMITS.maxRetryAfterMs;
}
