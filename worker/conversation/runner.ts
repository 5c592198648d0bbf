/** The run: a state machine over what is stored. `advance` does the next thing and stores what it came to. */
import type { ResponseStatus, Usage, UserMessage } from '../../shared/documents.ts';
import type { TapeEvent } from '../../shared/events.ts';
import { newCallId, responseIdOf } from '../../shared/ids.ts';
import { RUN_LIMITS, UPSTREAM_LIMITS } from '../../shared/limits.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { ReplyDocuments } from '../reply/documents.ts';
import { type Answer, askModel } from '../upstream/gateway.ts';
import type { ModelTarget } from '../upstream/models.ts';
import { retryDelayMs } from '../upstream/retry.ts';
import { admitCall, type LoggedCall, logCalls, loggedCall } from './calls.ts';
import { failureOf } from './failures.ts';
import { requestFor } from './model-request.ts';
import type { Recorder } from './recorder.ts';
import type { Phase, RunLog } from './run-log.ts';
import type { Schedule } from './schedule.ts';
import type { Machine, Run, RunRequest, RunStatus } from './statements.ts';
import {
  boundResult,
  closingEvents,
  type ErrorReport,
  errorDocument,
  resultEvents,
  takenBack,
} from './tool-events.ts';

/** The conversation's bridge, as the run needs it. Every call is idempotent and may throw when the object resets. */
export interface Hands {
  /** The bridge's tools and context; null when there is none or it never connected. */
  describe(): Promise<Machine | null>;
  dispatch(calls: readonly LoggedCall[]): Promise<void>;
  cancel(callIds: readonly string[]): Promise<void>;
}

/** What a run stands on. */
export interface RunnerDeps {
  readonly conversationId: string;
  readonly log: RunLog;
  readonly recorder: Recorder;
  readonly schedule: Schedule;
  readonly hands: Hands;
  readonly target: ModelTarget;
  /** The tape's head, for the end of a run. */
  readonly head: () => number;
  readonly now: () => number;
  readonly newUuid: () => string;
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
  #attempt = { failures: 0, notBeforeMs: 0 };
  readonly #dispatched = new Set<string>();

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#orphaned = deps.log.phase.type === 'asking';
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
    const said: TapeEvent = { type: 'message', message };
    if (log.current || machine === undefined) {
      recorder.record([said]);
      const first = head() - 1;
      log.submit({ ordinal, status: 'queued', first, started: null, request, machine: null });
    } else {
      recorder.record([said, this.#startEvent(message.responseId, request)]);
      const started = head() - 1;
      log.submit({ ordinal, status: 'running', first: started - 1, started, request, machine });
      this.#attempt = { failures: 0, notBeforeMs: 0 };
    }
    this.advance();
  }

  /** Stores a call's result, once; later ones and those of unknown calls change nothing. */
  settle(callId: string, result: ToolResult): void {
    const { log, recorder } = this.#deps;
    const pending = log.pending.find(({ call }) => call.callId === callId);
    if (!pending) return;
    const bounded = boundResult(result);
    log.addResult(pending, bounded);
    recorder.record(resultEvents(pending.call, bounded, recorder.nextSequence));
    this.advance();
  }

  /** Live output of a call, shown while it runs. */
  output(callId: string, delta: string): void {
    const { log, recorder } = this.#deps;
    const pending = log.pending.find(({ call }) => call.callId === callId);
    if (!pending) return;
    recorder.record([{ type: 'tool_output', documentId: pending.call.documentId, delta }]);
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
        this.#fail(INTERNAL);
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
    this.#attempt = { failures: 0, notBeforeMs: 0 };
    this.advance();
  }

  #startEvent(id: string, { model, mode }: RunRequest): TapeEvent {
    const { conversationId, now } = this.#deps;
    const created = new Date(now()).toISOString();
    return { type: 'response_start', response: { id, conversationId, model, mode, created } };
  }

  async #ask(run: Run): Promise<void> {
    const { log, recorder, schedule, now, target } = this.#deps;
    if (this.#orphaned && !this.#takeOver(run)) return;
    if (log.turnsOf(run).length >= RUN_LIMITS.maxTurns) return this.#fail(TURN_LIMIT);
    if (now() < this.#attempt.notBeforeMs) return await schedule.ensure(this.#attempt.notBeforeMs);
    await schedule.ensure(now() + RUN_LIMITS.watchdogMs);
    if (log.current?.ordinal !== run.ordinal) return this.advance();

    const asking = new AbortController();
    this.#asking = asking;
    const nextSequence = recorder.nextSequence;
    const documents = new ReplyDocuments({
      nextSequence,
      newCallId: () => newCallId(this.#deps.newUuid()),
    });
    try {
      const answer = await askModel(
        target,
        requestFor(run, log),
        (parts) => {
          if (!asking.signal.aborted) recorder.record(documents.push(parts));
        },
        asking.signal,
      );
      const isShown = recorder.nextSequence > nextSequence;
      if (!asking.signal.aborted) this.#takeAnswer(run, answer, documents, isShown);
    } catch (error) {
      if (!asking.signal.aborted) throw error;
    } finally {
      if (this.#asking === asking) this.#asking = null;
    }
    this.advance();
  }

  /** An earlier instance died in the middle of this turn: takes back what it showed, and asks again. */
  #takeOver(run: Run): boolean {
    const { log, recorder } = this.#deps;
    this.#orphaned = false;
    const kept = log.turnsOf(run).at(-1)?.turn.lastSequence ?? 0;
    recorder.record(takenBack(recorder.response?.documents ?? [], kept));
    if (log.takeOver(run) <= RUN_LIMITS.maxTakeovers) return true;
    this.#fail(RECOVERY_EXHAUSTED);
    return false;
  }

  #takeAnswer(
    run: Run,
    { reply, retry }: Answer,
    documents: ReplyDocuments,
    isShown: boolean,
  ): void {
    const { log, recorder, now } = this.#deps;
    if (retry && !isShown && this.#tryLater(retry.afterMs)) return;
    const { events, calls } = documents.end(reply);
    recorder.record(events);
    const failure = failureOf(reply);
    const logged = failure ? [] : logCalls(calls, log);
    if (reply.text !== '' || logged.length > 0) {
      const { text, reasoning, reasoningDetails, usage } = reply;
      const lastSequence = recorder.nextSequence - 1;
      const turn = { text, reasoning, reasoningDetails, usage, lastSequence };
      log.addTurn(run, { ...turn, calls: logged, atMs: now() });
    }
    this.#attempt = { failures: 0, notBeforeMs: 0 };
    if (failure) return this.#fail(failure);
    if (logged.length === 0) return this.#endRun(run, 'completed', []);
    for (const call of logged) {
      const refused = admitCall(call, run);
      if (refused) this.settle(call.callId, refused);
    }
  }

  #tryLater(afterMs: number | null): boolean {
    const failures = this.#attempt.failures + 1;
    if (failures >= UPSTREAM_LIMITS.maxAttempts) return false;
    const delayMs = afterMs ?? retryDelayMs(failures, Math.random());
    this.#attempt = { failures, notBeforeMs: this.#deps.now() + delayMs };
    return true;
  }

  /** Hands the calls over and returns: the object can sleep while the developer's machine works. */
  async #dispatch({
    run,
    turn,
    pending,
  }: Extract<Phase, { type: 'awaiting_tools' }>): Promise<void> {
    const { hands, log, schedule, now } = this.#deps;
    if (now() >= log.deadlineOf(turn)) return this.#giveUp(pending.map(({ call }) => call.callId));
    const fresh = pending.filter(({ call }) => !this.#dispatched.has(call.callId));
    await schedule.ensure(log.deadlineOf(turn));
    if (fresh.length === 0) return;
    try {
      await hands.dispatch(fresh.map(({ call }) => loggedCall(call, run)));
      for (const { call } of fresh) this.#dispatched.add(call.callId);
    } catch {
      // The tunnel's object was reset under the call. The calls stay in the log; the alarm sends them again.
      await this.#retrySoon();
    }
  }

  #giveUp(callIds: readonly string[]): void {
    for (const callId of callIds) this.settle(callId, DEADLINE_PASSED);
    void this.#deps.hands.cancel(callIds).catch(() => undefined);
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

  #endOpenDocuments(result: ToolResult): void {
    const { log, recorder } = this.#deps;
    const calls = new Map(log.pending.map(({ call }) => [call.documentId, call]));
    const open =
      recorder.response?.documents.filter(({ id }) => recorder.openDocuments.has(id)) ?? [];
    recorder.record(
      open.flatMap((document) => closingEvents(document, calls.get(document.id), result)),
    );
  }

  #endRun(
    run: Run,
    status: Extract<RunStatus & ResponseStatus, string>,
    last: readonly TapeEvent[],
  ): void {
    const { log, recorder, conversationId, head, now } = this.#deps;
    const turns = log.turnsOf(run);
    const startedMs = run.started === null ? now() : Date.parse(recorder.response?.created ?? '');
    recorder.record([
      ...last,
      {
        type: 'done',
        responseId: responseIdOf(conversationId, run.ordinal),
        status,
        usage: sumUsage(turns.map(({ turn }) => turn.usage)),
        metadata: {
          duration_ms: now() - startedMs,
          toolCallCount: turns.reduce((count, { turn }) => count + turn.calls.length, 0),
          turnCount: turns.length,
        },
      },
    ]);
    log.end(run, status, head());
    this.advance();
  }
}

const INTERNAL: ErrorReport = {
  code: 'INTERNAL',
  source: 'drawbridge',
  message: 'Something went wrong on our side. The message can be sent again.',
};

const CANCELLED: ToolResult = {
  status: 'error',
  code: 'CANCELLED',
  data: 'Cancelled by the user.',
};

const NOT_RUN: ToolResult = {
  status: 'error',
  code: 'NOT_RUN',
  data: 'Not run: the answer failed.',
};

const TURN_LIMIT: ErrorReport = {
  code: 'TURN_LIMIT',
  source: 'drawbridge',
  message: `Stopped after ${RUN_LIMITS.maxTurns} turns. Send another message to go on.`,
};

const RECOVERY_EXHAUSTED: ErrorReport = {
  code: 'RECOVERY_EXHAUSTED',
  source: 'drawbridge',
  message: 'The answer was interrupted too often. Send the message again.',
};

const DEADLINE_PASSED: ToolResult = {
  status: 'error',
  code: 'DEADLINE_PASSED',
  data: 'The bridge gave no result in time. Whether the call had any effect is unknown: check before you repeat it.',
};

/** Null when no turn reported any: zeros would be a lie. */
function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => {
    if (!usage || !sum) return sum ?? usage;
    return {
      promptTokens: sum.promptTokens + usage.promptTokens,
      completionTokens: sum.completionTokens + usage.completionTokens,
      totalTokens: sum.totalTokens + usage.totalTokens,
      ...addOptional('cachedPromptTokens', sum, usage),
      ...addOptional('reasoningTokens', sum, usage),
    };
  }, null);
}

function addOptional(name: 'cachedPromptTokens' | 'reasoningTokens', a: Usage, b: Usage) {
  return a[name] === undefined && b[name] === undefined
    ? {}
    : { [name]: (a[name] ?? 0) + (b[name] ?? 0) };
}
