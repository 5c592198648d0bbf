/** The subagents that a conversation has started: starts them in order, takes their reports, ends and deletes them. */
import { DrawbridgeError } from '../../../shared/errors.ts';
import { newConversationId } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { askKeyOf, asksOf } from '../../../shared/wire/fold.ts';
import { SubagentState } from '../../../shared/wire/subagents.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import type { Env } from '../../env.ts';
import { conversationOf } from '../../objects.ts';
import { type Outcome, unwrap } from '../../outcome.ts';
import type { Caller, TaskReport } from '../../ports/conversation.ts';
import { inTime, reach } from '../../reach.ts';
import type { RowMeter } from '../../storage/row-meter.ts';
import type { CallDesk } from '../calls/call-desk.ts';
import type { RunLog } from '../log/run-log.ts';
import type { RunWatch } from '../run-watch.ts';
import { subagentOf } from '../store/errands.ts';
import type { Call, ConversationRow, Run } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { Recorder } from '../tape/recorder.ts';
import { TASK_LIMITS } from './limits.ts';
import { planTask } from './plan-task.ts';
import { isTask } from './shares.ts';

export interface ChildrenDeps {
  readonly env: Env;
  readonly row: Pick<
    ConversationRow,
    'id' | 'owner' | 'bridge' | 'ephemeral' | 'deleteAfterHours' | 'agent'
  >;
  readonly log: RunLog;
  readonly runs: RunStore;
  readonly recorder: Recorder;
  readonly calls: CallDesk;
  readonly watch: RunWatch;
  /** Counts every row that the response has cost, in all objects. */
  readonly meter: RowMeter;
  readonly now: () => number;
  /** Sets the alarm for {@link Children.dueMs}. */
  readonly arm: () => Promise<void>;
}

/** What was heard of a subagent. */
interface ChildState {
  /** That of its newest report. */
  readonly position: number;
  /** When it is asked, if it stays silent. */
  readonly nextMs: number;
  /** Attempts in a row to reach it that failed. */
  readonly failures?: number;
}

/**
 * A call of `task` without a result is a subagent to be started, or one running: no row says so. What this object holds
 * can be lost at any await. A new instance starts the same subagents again, which changes nothing for those that are
 * there, because a subagent's conversation is named by its call.
 */
export class Children {
  readonly #deps: ChildrenDeps;
  /** The calls whose subagent is being asked now. */
  readonly #asking = new Set<string>();
  readonly #heard = new Map<string, ChildState>();
  /** The calls whose subagents are to end and have not confirmed it; null until the rows were looked at. */
  #unwanted: Set<string> | null = null;
  #endAgainMs = 0;

  constructor(deps: ChildrenDeps) {
    this.#deps = deps;
  }

  /** When {@link advance} is due; null while nothing is to be done. */
  dueMs(): number | null {
    const started = this.#present.map(({ callId }) => this.#nextMs(callId));
    if (this.#toEnd.size > 0) started.push(this.#endAgainMs);
    return started.length === 0 ? null : Math.min(...started);
  }

  /** Starts, asks and ends the subagents that it is time for. Returns at once; may be called at any time. */
  advance(): void {
    const { log, now } = this.#deps;
    const run = log.current;
    if (this.#toEnd.size > 0 && now() >= this.#endAgainMs) this.#endUnwanted();
    for (const call of this.#present) {
      if (!run || this.#asking.has(call.callId) || now() < this.#nextMs(call.callId)) continue;
      void this.#ask(run, call);
    }
  }

  /** Takes a subagent's report. False if no one waits for it any more. */
  take(callId: string, { position, state, asks, end }: TaskReport): boolean {
    const { log, recorder, calls, meter, now } = this.#deps;
    const call = log.findPending(callId)?.call;
    if (!call) return false;
    if ((this.#heard.get(callId)?.position ?? 0) > position) return true;
    this.#heard.set(callId, { position, nextMs: now() + TASK_LIMITS.lookMs });
    const update = {
      type: 'subagent_update',
      documentId: call.documentId,
      subagent: state,
    } as const;
    if (end) {
      recorder.stream([update]); // Committed with the result, in this same step.
      meter.count(end.rows);
      calls.settle(callId, end.result);
      return true;
    }
    const changed = this.#changes(call, asks);
    if (changed.length > 0) recorder.record([update, ...changed]);
    else recorder.stream([update]);
    return true;
  }

  /** Ends the subagents of these calls, because their run has finished. Until they confirm it, they are asked again. */
  recall(calls: readonly Call[]): void {
    const { now, arm } = this.#deps;
    const callIds = calls.filter(({ name }) => isTask(name)).map(({ callId }) => callId);
    if (callIds.length === 0) return;
    for (const callId of callIds) this.#toEnd.add(callId);
    this.#endAgainMs = now() + TASK_LIMITS.retryMs;
    void arm();
    this.#endUnwanted();
  }

  /** Deletes the conversations of all subagents. @throws UNAVAILABLE if one is out of reach; ask again for the rest. */
  async deleteAll(): Promise<void> {
    const { env, row, runs } = this.#deps;
    for (const callId of runs.turns.callsNamed(isTask)) {
      const caller = this.#callerOf(callId);
      const erase = () => conversationOf(env, caller).delete(caller, row.id);
      const outcome = await reach<Outcome<void>>(erase);
      if (!outcome.ok && outcome.code !== 'NOT_FOUND') unwrap(outcome);
    }
  }

  /** Whether this conversation has ever started a subagent. */
  get hasAny(): boolean {
    return this.#deps.runs.turns.callsNamed(isTask).length > 0;
  }

  /** The calls whose subagents may be running now: the first ones without a result. */
  get #present(): Call[] {
    const calls = this.#deps.log.pending.map(({ call }) => call);
    return calls.filter(({ name }) => isTask(name)).slice(0, TASK_LIMITS.maxAtOnce);
  }

  #nextMs(callId: string): number {
    return this.#heard.get(callId)?.nextMs ?? 0;
  }

  /** Asks a subagent for its state, or starts it. A failure that is none of ours is tried again. */
  async #ask(run: Run, call: Call): Promise<void> {
    const { callId } = call;
    this.#asking.add(callId);
    try {
      if (this.#stateOf(call)) await this.#look(call);
      else await this.#start(run, call);
    } catch (error) {
      this.#failed(call, error);
    } finally {
      this.#asking.delete(callId);
      void this.#deps.arm();
    }
  }

  async #start(run: Run, call: Call): Promise<void> {
    const { env, row, log, recorder, calls, now } = this.#deps;
    const planned = planTask(call, {
      conversationId: row.id,
      run,
      log,
      settings: env,
      nowMs: now(),
      isAgent: row.agent !== undefined,
      startedMs: Date.parse(recorder.response?.created ?? ''),
    });
    if (planned.type === 'refused') return calls.settle(call.callId, planned.result);
    const { request, title } = planned;
    const { id: conversationId, bridge: bridgeId, ephemeral, deleteAfterHours } = row;
    const parent = { conversationId, callId: call.callId };
    const create = { bridgeId, title, ephemeral, deleteAfterHours, parent };
    const posted = { request, device: undefined, delivery: 'queue' as const, ownFields: [] };
    const caller = this.#callerOf(call.callId);
    const starting = conversationOf(env, caller).submit(caller, { ...posted, create });
    unwrap(await inTime<Outcome<unknown>>(starting));
    // A cancel may have reached the subagent's object before the start.
    if (!log.findPending(call.callId)) return this.recall([call]);
    if (this.#stateOf(call)) return; // Its first report was quicker than this answer.
    const { callId, documentId } = call;
    this.#heard.set(callId, { position: 0, nextMs: now() + TASK_LIMITS.lookMs });
    const known = { conversationId: caller.conversationId, type: subagentOf(request)?.type ?? '' };
    const state = { ...known, model: request.model, status: 'streaming' } as const;
    const subagent = { ...state, turnCount: 0, toolCallCount: 0 };
    recorder.stream([{ type: 'subagent_update', documentId, subagent }]);
  }

  async #look(call: Call): Promise<void> {
    const { env, calls, now } = this.#deps;
    const caller = this.#callerOf(call.callId);
    const outcome = await inTime<Outcome<void>>(conversationOf(env, caller).remindTask(caller));
    if (!outcome.ok) return calls.settle(call.callId, LOST);
    const position = this.#heard.get(call.callId)?.position ?? 0;
    this.#heard.set(call.callId, { position, nextMs: now() + TASK_LIMITS.lookMs });
  }

  /** A refusal ends the call. Anything else is a reset of the subagent's object, or its silence, and tried again for a while. */
  #failed(call: Call, error: unknown): void {
    const { calls, now, log, watch } = this.#deps;
    const { callId } = call;
    const { position = 0, failures = 0 } = this.#heard.get(callId) ?? {};
    const isRefused = error instanceof DrawbridgeError && error.code !== 'UNAVAILABLE';
    if (isRefused || failures >= TASK_LIMITS.maxRetries) {
      if (!isRefused) watch.log('subagent_unreachable', log.current, { call: callId, error });
      calls.settle(callId, isRefused ? refusalOf(error) : UNREACHABLE);
      return this.recall([call]);
    }
    const nextMs = now() + TASK_LIMITS.retryMs;
    this.#heard.set(callId, { position, nextMs, failures: failures + 1 });
  }

  #endUnwanted(): void {
    this.#endAgainMs = this.#deps.now() + TASK_LIMITS.retryMs;
    for (const callId of this.#toEnd) void this.#end(callId);
  }

  async #end(callId: string): Promise<void> {
    const caller = this.#callerOf(callId);
    try {
      await inTime<unknown>(conversationOf(this.#deps.env, caller).cancel(caller, 1));
      this.#toEnd.delete(callId); // NOT_FOUND, too: the subagent was never started.
    } catch {
      // Its object was reset during the call, or hangs: the alarm tries again.
    }
  }

  /**
   * An instance that ended a run may have died before it informed the subagents. So a new instance looks at the newest run
   * that has finished: calls of its last turn without a result are those of subagents that were to end.
   */
  get #toEnd(): Set<string> {
    this.#unwanted ??= new Set(this.#abandoned().map(({ callId }) => callId));
    return this.#unwanted;
  }

  #abandoned(): Call[] {
    const { log, runs } = this.#deps;
    for (const run of log.back()) {
      if (run.last === null) continue;
      if (run.status === 'completed' || run.firstTurn === null) return [];
      const turn = runs.turns.readTurns(run.firstTurn, run.ordinal).at(-1);
      const settled = new Set(turn && runs.turns.readSettled(turn.number));
      return turn?.calls.filter(({ name }, index) => isTask(name) && !settled.has(index)) ?? [];
    }
    return [];
  }

  #changes({ documentId }: Call, asks: TaskReport['asks']): TapeEvent[] {
    const open = asksOf(this.#metadataOf(documentId));
    const before = new Set(open.map(askKeyOf));
    const after = new Set(asks.map(askKeyOf));
    const answered = open.map(askKeyOf).filter((key) => !after.has(key));
    return [
      ...answered.map((key) => ({ type: 'subagent_answered' as const, documentId, key })),
      ...asks
        .filter((ask) => !before.has(askKeyOf(ask)))
        .map((ask) => ({ type: 'subagent_ask' as const, documentId, ask })),
    ];
  }

  /** The state that the call's document shows; undefined before the subagent has started. */
  #stateOf({ documentId }: Call): SubagentState | undefined {
    return SubagentState.safeParse(this.#metadataOf(documentId)['subagent']).data;
  }

  #metadataOf(documentId: string): Readonly<Record<string, unknown>> {
    return this.#deps.recorder.document(documentId)?.metadata ?? {};
  }

  /** A subagent's conversation has its call's random digits, so that starting it twice is starting it once. */
  #callerOf(callId: string): Caller {
    const conversationId = newConversationId(callId.slice('call_'.length));
    return { account: this.#deps.row.owner, conversationId };
  }
}

function refusalOf({ code, message: data }: DrawbridgeError): ToolResult {
  return failure(code, data);
}

const UNREACHABLE = failure(
  'SUBAGENT_LOST',
  'The subagent could not be reached. What it did is unknown: check before you repeat the task.',
);

const LOST = failure(
  'SUBAGENT_LOST',
  "The subagent's conversation does not exist any more. What it did until then is unknown: check before you repeat the task.",
);
