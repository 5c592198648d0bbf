/** Runs, turns and results as stored, with a copy in memory; says what is to be done next and never does it. */
import { z } from 'zod';
import { Todo } from '../../shared/documents.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { isForEdge } from './calls.ts';
import type {
  Call,
  Machine,
  NewRun,
  NewTurn,
  Run,
  RunEnd,
  RunRequest,
  RunStatus,
  Steer,
  Turn,
} from './rows.ts';
import type { ConversationStore } from './statements.ts';
import type { AnsweredTurn } from './transcript.ts';

/** What the tools that write todos (tools/) leave beside their document's metadata. */
const TodoList = z.object({ list: z.array(Todo) });

/** A call without a result. */
export interface PendingCall {
  readonly turn: Turn;
  readonly index: number;
  readonly call: Call;
}

/** What the conversation is at. Derived from what is stored, so it cannot disagree with it. */
export type Phase =
  | { readonly type: 'idle' }
  | { readonly type: 'queued'; readonly run: Run }
  | { readonly type: 'asking'; readonly run: Run }
  | {
      readonly type: 'awaiting_tools';
      readonly run: Run;
      readonly turn: Turn;
      readonly pending: readonly PendingCall[];
    };

/** Every change is written to the store first, in the caller's synchronous step. */
export class RunLog {
  readonly #store: ConversationStore;
  readonly #runs: Run[];
  readonly #turns: Turn[];
  readonly #steers: Steer[];
  readonly #results = new Map<number, (ToolResult | undefined)[]>();

  constructor(store: ConversationStore, stored: boolean) {
    this.#store = store;
    this.#runs = stored ? store.readRuns() : [];
    this.#turns = stored ? store.readTurns() : [];
    this.#steers = stored ? store.readSteers() : [];
    for (const { run, end } of this.#turns) if (end) this.#applyEnd(run, end);
    for (const turn of this.#turns)
      this.#results.set(
        turn.number,
        turn.calls.map(() => undefined),
      );
    if (stored)
      for (const { turn, call, result } of store.readResults()) this.#setResult(turn, call, result);
  }

  get phase(): Phase {
    const run = this.current;
    if (!run) return { type: 'idle' };
    if (run.status === 'queued') return { type: 'queued', run };
    const turn = this.#turns.at(-1);
    const pending = this.pending;
    return turn && pending.length > 0
      ? { type: 'awaiting_tools', run, turn, pending }
      : { type: 'asking', run };
  }

  /** The run at work, or the first that waits. */
  get current(): Run | undefined {
    return this.#runs.find((run) => run.last === null);
  }

  get runs(): readonly Run[] {
    return this.#runs;
  }

  /** The calls of the last turn that have no result yet. */
  get pending(): readonly PendingCall[] {
    const turn = this.#turns.at(-1);
    if (!turn || this.current?.ordinal !== turn.run) return [];
    const results = this.#results.get(turn.number) ?? [];
    return turn.calls.flatMap((call, index) => (results[index] ? [] : [{ turn, index, call }]));
  }

  /** The conversation's list of todos: what the last call left that wrote one. */
  get todos(): readonly Todo[] {
    for (const turn of this.#turns.toReversed()) {
      const results = this.#results.get(turn.number) ?? [];
      for (const [index, call] of [...turn.calls.entries()].reverse()) {
        const written = isForEdge(call) && TodoList.safeParse(results[index]?.metadata).data;
        if (written) return written.list;
      }
    }
    return [];
  }

  /** When the calls of a run's turn are given up, in epoch milliseconds. */
  deadlineOf(run: Run, turn: Turn): number {
    return Math.max(turn.atMs + RUN_LIMITS.callDeadlineMs, run.deadline ?? 0);
  }

  /** When to look after the run again if nothing wakes the object: at the deadline while the bridge is at work. */
  nextLookMs(nowMs: number): number {
    const { phase } = this;
    const watchdogMs = nowMs + RUN_LIMITS.watchdogMs;
    if (phase.type !== 'awaiting_tools') return watchdogMs;
    return Math.max(watchdogMs, this.deadlineOf(phase.run, phase.turn));
  }

  /** Gives the calls of the run at work until then: a person takes longer than a command. */
  setDeadline(deadline: number): void {
    const run = this.current;
    if (!run) return;
    this.#store.setDeadline(run.ordinal, deadline);
    this.#replace({ ...run, deadline });
  }

  turnsOf(run: Run): AnsweredTurn[] {
    return this.#turns
      .filter((turn) => turn.run === run.ordinal)
      .map((turn) => ({ turn, results: this.#results.get(turn.number) ?? [] }));
  }

  /** The messages that steered a run, in the order they came. */
  steersOf(run: Run): readonly Steer[] {
    return this.#steers.filter((steer) => steer.run === run.ordinal);
  }

  /** Whether a message waits to be told to the model. */
  hasWaitingSteer(run: Run): boolean {
    return this.steersOf(run).some(({ turns }) => turns === null);
  }

  addSteer(run: Run, steer: Pick<Steer, 'content' | 'idempotency'>): void {
    const number = (this.#steers.at(-1)?.number ?? 0) + 1;
    const stored = { ...steer, number, run: run.ordinal, turns: null };
    this.#store.insertSteer(stored);
    this.#steers.push(stored);
  }

  /** The messages that waited stand behind the turns that there are now. */
  placeSteers(run: Run): void {
    const turns = this.turnsOf(run).length;
    this.#store.placeSteers(run.ordinal, turns);
    for (const [index, steer] of this.#steers.entries()) {
      if (steer.run === run.ordinal && steer.turns === null)
        this.#steers[index] = { ...steer, turns };
    }
  }

  /** The run that this request has led to before, as its message or as one that steered it. */
  findByKey(key: string): { run: Run; digest: string } | undefined {
    const asked = this.#runs.find(({ request }) => request.idempotency?.key === key);
    const steer = this.#steers.find(({ idempotency }) => idempotency?.key === key);
    const run = asked ?? this.#runs.find(({ ordinal }) => ordinal === steer?.run);
    const digest = asked?.request.idempotency?.digest ?? steer?.idempotency?.digest;
    return run && digest !== undefined ? { run, digest } : undefined;
  }

  /** For a run that has not started. */
  changeRequest(run: Run, request: RunRequest): void {
    this.#store.updateRequest(run.ordinal, request);
    this.#replace({ ...run, request });
  }

  /** Whether an upstream's call id was used before; ids must be unique over a whole request. */
  hasUpstreamId(id: string): boolean {
    return this.#turns.some((turn) => turn.calls.some((call) => call.upstreamId === id));
  }

  submit(run: NewRun): Run {
    const stored = { ...run, last: null, takeovers: 0, deadline: null, failures: 0, notBefore: 0 };
    this.#store.insertRun(run);
    this.#runs.push(stored);
    return stored;
  }

  start(run: Run, started: number, machine: Machine | null): Run {
    this.#store.startRun(run.ordinal, started, machine);
    return this.#replace({ ...run, status: 'running', started, machine });
  }

  /** Counts a takeover and returns how many there were since the last completed turn. */
  takeOver(run: Run): number {
    const takeovers = run.takeovers + 1;
    this.#store.countTakeover(run.ordinal, takeovers);
    this.#replace({ ...run, takeovers });
    return takeovers;
  }

  /** Counts an attempt that failed before anything was shown; the next one may begin at `notBefore`. */
  countFailure(run: Run, failures: number, notBefore: number): void {
    this.#store.countFailure(run.ordinal, failures, notBefore);
    this.#replace({ ...run, failures, notBefore });
  }

  end(run: Run, status: RunStatus, last: number): void {
    this.#store.endRun(run.ordinal, status, last);
    this.#replace({ ...run, status, last });
  }

  addTurn(run: Run, turn: NewTurn): Turn {
    const stored = { ...turn, number: (this.#turns.at(-1)?.number ?? 0) + 1, run: run.ordinal };
    this.#store.insertTurn(stored);
    this.#turns.push(stored);
    this.#results.set(
      stored.number,
      stored.calls.map(() => undefined),
    );
    if (stored.end) this.#applyEnd(run.ordinal, stored.end);
    else if (run.takeovers > 0 || run.failures > 0) {
      this.#store.clearTroubles(run.ordinal);
      this.#replace({ ...run, takeovers: 0, failures: 0 });
    }
    return stored;
  }

  addResult({ turn, index }: PendingCall, result: ToolResult): void {
    this.#store.insertResult(turn.number, index, result);
    this.#setResult(turn.number, index, result);
  }

  /** The table of runs does not know of an end that stands with the run's last turn. */
  #applyEnd(ordinal: number, end: RunEnd): void {
    const run = this.#runs.find((other) => other.ordinal === ordinal);
    if (run) this.#replace({ ...run, ...end });
  }

  #setResult(turn: number, index: number, result: ToolResult): void {
    const results = this.#results.get(turn);
    if (results) results[index] = result;
  }

  #replace(run: Run): Run {
    const index = this.#runs.findIndex((other) => other.ordinal === run.ordinal);
    this.#runs[index] = run;
    return run;
  }
}
