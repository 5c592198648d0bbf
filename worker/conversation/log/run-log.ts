/** The stored runs, with the open ones in memory. Says what is to be done next and never does it. */

import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { TaskSpent } from '../../../shared/wire/documents.ts';
import type { Attachment } from '../../../shared/wire/findings.ts';
import type { OfferSet } from '../../../shared/wire/offer.ts';
import type { PlanState } from '../../../shared/wire/plans.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import type {
  Call,
  Machine,
  NewRun,
  NewTurn,
  NewWindow,
  Run,
  RunEnd,
  RunMode,
  RunRequest,
  Steer,
  Turn,
} from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import { toolboxOf } from './offered-tools.ts';

/** A call without a result. */
export interface PendingCall {
  readonly turn: Turn;
  readonly index: number;
  readonly call: Call;
}

/** The conversation's present phase, derived from stored rows, so the two cannot disagree. */
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

/** Writes every change to the store first, in the caller's step. Holds only runs that have not ended. */
export class RunLog {
  readonly #store: RunStore;
  /** The runs that have not ended, in the order in which they are answered. */
  readonly #open: Run[] = [];
  #newest = 0;
  #turnNumber = 0;
  #steerNumber = 0;
  #turns: Turn[] = [];
  #steers: Steer[] = [];
  /** See {@link leftMessages}. */
  #left: Steer[] = [];
  /** The indexes of the last turn's calls that have a result. */
  #settled = new Set<number>();
  /** The runs of requests by Idempotency-Key; null until a key is looked up. */
  #keys: Map<string, KeyedRun> | null = null;

  constructor(store: RunStore, stored: boolean) {
    this.#store = store;
    if (stored) this.#load();
  }

  get phase(): Phase {
    const run = this.current;
    if (!run) return { type: 'idle' };
    if (run.status === 'queued') return { type: 'queued', run };
    const turn = this.#turns.at(-1);
    const pending = this.pending;
    return turn && pending.length > 0
      ? { type: 'awaiting_tools', run: this.#inMode(run, this.#turns.length - 1), turn, pending }
      : { type: 'asking', run: this.#inMode(run, this.#turns.length) };
  }

  /** The run in the mode of the turn after `turns` others: a switch counts from the next turn on. */
  #inMode(run: Run, turns: number): Run {
    const last = this.#steers.findLast(
      (steer) => steer.switched && (steer.turns ?? this.#turns.length) <= turns,
    );
    return last ? { ...run, switched: last.switched } : run;
  }

  /** The current run, or the first waiting run. */
  get current(): Run | undefined {
    return this.#open[0];
  }

  get toolbox(): Toolbox {
    return toolboxOf(this.current ?? { machine: null });
  }

  /** The set of offers with this digest, if a run had it before. */
  heldOffers(digest: string): OfferSet | undefined {
    return this.#store.readOffers(digest);
  }

  /** The runs that have not ended: the current run, then the waiting ones. */
  get open(): readonly Run[] {
    return this.#open;
  }

  /** The ordinal of the newest run; 0 before the first one. */
  get newest(): number {
    return this.#newest;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** The messages that steer the current run, in the order of arrival. */
  get steers(): readonly Steer[] {
    return this.#steers;
  }

  /** What those subagents of the current run have spent whose calls have a result. */
  get tasks(): TaskSpent[] {
    return this.#tasksOf(this.#turns);
  }

  /** As {@link tasks}, without those of the newest turn. */
  get earlierTasks(): TaskSpent[] {
    return this.#tasksOf(this.#turns.slice(0, -1));
  }

  #tasksOf(turns: readonly Turn[]): TaskSpent[] {
    const { toolbox } = this;
    return turns.flatMap(({ number, calls }) =>
      calls.flatMap(({ name }, index) => {
        if (toolbox.executorOf(name) !== 'agent') return [];
        return this.#store.turns.readTaskSpent(number, index) ?? [];
      }),
    );
  }

  /** The result of a call of the current run, without metadata; null while it has none. */
  resultOf(turn: number, index: number): ToolResult | null {
    return this.#store.turns.readResult(turn, index);
  }

  /** The number of the newest turn of the current run whose results the model gets as notes, or in a digest. */
  leftOutThrough(): number {
    const window = this.#store.windowsBack().next().value;
    const { ordinal, firstTurn } = this.current ?? {};
    if (!window) return 0;
    const digested = window.from.run === ordinal ? (firstTurn ?? 0) + window.from.turns - 1 : 0;
    return Math.max(window.prunedThrough, digested);
  }

  /** The calls of the last turn that have no result yet. */
  get pending(): readonly PendingCall[] {
    const turn = this.#turns.at(-1);
    if (!turn) return [];
    return turn.calls.flatMap((call, index) =>
      this.#settled.has(index) ? [] : [{ turn, index, call }],
    );
  }

  findPending(callId: string): PendingCall | undefined {
    return this.pending.find(({ call }) => call.callId === callId);
  }

  get steeringMessages(): readonly Steer[] {
    return this.#steers.filter(isMessage);
  }

  /**
   * The messages that steered earlier runs, which ended before the model learned of them. The current run sends them.
   * Leaves out those before a message that was looked up: a lookup and a request always take all messages that wait.
   */
  get leftMessages(): readonly Steer[] {
    return this.#left;
  }

  /** Whether a message waits to be sent to the model. A changed plan alone lets no run go on. */
  get hasWaitingSteer(): boolean {
    return this.#steers.some((steer) => steer.turns === null && isMessage(steer));
  }

  /** Whether a row that the current run needs cannot be read. The run must then not go on. */
  get isDamaged(): boolean {
    const run = this.current;
    if (!run) return false;
    const isWhole = this.#turns.every(
      ({ isDamaged, number }, index) => !isDamaged && number === (run.firstTurn ?? 0) + index,
    );
    return run.isDamaged === true || !isWhole;
  }

  /** Rows that earlier instances wrote for the current run; rows of updates are not known any more. */
  get storedRows(): number {
    const run = this.current;
    return run && run.started !== null ? this.#store.countRows(run) : 0;
  }

  /** The run, ended or not; undefined when there is none. */
  find(ordinal: number): Run | undefined {
    const open = this.#open.find((run) => run.ordinal === ordinal);
    return open ?? this.#store.readRun(ordinal) ?? undefined;
  }

  /** All runs, the newest first, read on demand. */
  back(): Generator<Run, undefined> {
    return this.#store.runsBack();
  }

  /** When the calls of a run's turn time out, in epoch milliseconds. */
  deadlineOf(run: Run, turn: Turn): number {
    return Math.max(turn.atMs + RUN_LIMITS.callDeadlineMs, run.deadline ?? 0);
  }

  /** Lets the calls of the current run take until `deadline`: a person takes longer than a command. */
  setDeadline(deadline: number): void {
    const run = this.current;
    if (!run) return;
    this.#store.setDeadline(run.ordinal, deadline);
    this.#change(run, { deadline });
  }

  addSteer(run: Run, steer: Pick<Steer, 'content' | 'idempotency'>): void {
    this.#add({ ...steer, run: run.ordinal, turns: null });
    this.#remember(steer.idempotency, run.ordinal);
  }

  /** Adds what the mentions of a message lead to. The model must not have seen the message. */
  attach({ number }: Steer, attachments: readonly Attachment[]): void {
    const attach = (steer: Steer) => {
      if (steer.number !== number) return steer;
      const attached = { ...steer, attachments };
      this.#store.updateSteer(attached);
      return attached;
    };
    this.#left = this.#left.map(attach);
    this.#steers = this.#steers.map(attach);
  }

  /** Adds a note behind the present turns of the current run. It lets no run go on. */
  addNote(run: Run, content: string): void {
    this.#add({ content, isNote: true, run: run.ordinal, turns: this.#turns.length });
  }

  /** Lets the current run go on in another mode, from its next turn on. */
  addSwitch(run: Run, switched: RunMode): void {
    this.#add({ content: '', switched, run: run.ordinal, turns: null });
  }

  #add(steer: Omit<Steer, 'number'>): void {
    const stored = { ...steer, number: this.#steerNumber + 1 };
    this.#store.insertSteer(stored);
    this.#steerNumber = stored.number;
    this.#steers.push(stored);
  }

  /** Adds the plan that a person has changed after all that `run` has said. Replaces a change not seen by the model. */
  addPlan(run: Run, plan: PlanState): void {
    const newest = this.#store.steersBack().next().value;
    const isWaiting = newest?.run === run.ordinal && newest.turns === null && newest.plan;
    const number = isWaiting ? newest.number : this.#steerNumber + 1;
    const stored: Steer = { content: '', plan, number, run: run.ordinal, turns: null };
    if (isWaiting) this.#store.updateSteer(stored);
    else this.#store.insertSteer(stored);
    this.#steerNumber = number;
    if (this.current?.ordinal !== run.ordinal) return;
    this.#steers = [...this.#steers.filter((steer) => steer.number !== number), stored];
  }

  /** Places the waiting steers and changes of the plan after the present turns. */
  placeSteers(run: Run): void {
    if (this.#steers.every(({ turns }) => turns !== null)) return;
    const turns = this.#turns.length;
    this.#store.placeSteers(run.ordinal, turns);
    this.#steers = this.#steers.map((steer) => ({ ...steer, turns: steer.turns ?? turns }));
  }

  /** The run that an earlier request with this key led to, as its message or as a steer. */
  findByKey(key: string): { run: Run; digest: string } | undefined {
    this.#keys ??= new Map(
      this.#store
        .readKeys(this.#newest - RUN_LIMITS.rememberedKeys)
        .map(({ key: name, ...keyed }) => [name, keyed]),
    );
    const known = this.#keys.get(key);
    const run = known && this.find(known.ordinal);
    return run && { run, digest: known.digest };
  }

  /** Replaces the request of a run that has not started, or has sent its model nothing yet. */
  changeRequest(run: Run, request: RunRequest): void {
    this.#store.updateRequest(run.ordinal, request);
    this.#change(run, { request });
  }

  /** Replaces the machine of the current run, while it has sent its model nothing. */
  changeMachine(run: Run, machine: Machine): void {
    this.#store.updateMachine({ ...run, machine });
    this.#change(run, { machine });
  }

  /** Adds a run. A run that starts at once requires that no other run is current. */
  submit(run: Omit<NewRun, 'firstTurn'>): void {
    const firstTurn = run.started === null ? null : this.#turnNumber + 1;
    const stored = { ...run, ...UNTROUBLED, last: null, deadline: null, firstTurn };
    this.#store.insertRun(stored);
    this.#newest = run.ordinal;
    this.#open.push(stored);
    if (run.started !== null) this.#begin(run.ordinal);
    this.#remember(run.request.idempotency, run.ordinal);
  }

  start(run: Run, started: number, machine: Machine | null): void {
    const firstTurn = this.#turnNumber + 1;
    const running: Run = { ...run, status: 'running', started, machine, firstTurn };
    this.#store.startRun(running);
    this.#change(run, running);
    this.#begin(run.ordinal);
  }

  /** Counts a takeover. Returns the takeovers since the last turn or attempt that ended. */
  takeOver(run: Run): number {
    const takeovers = run.takeovers + 1;
    this.#store.countTakeover(run.ordinal, takeovers);
    this.#change(run, { takeovers });
    return takeovers;
  }

  /** Counts an attempt that failed unseen; the next one begins at `notBefore`. This instance lived: no takeovers. */
  countFailure(run: Run, failures: number, notBefore: number): void {
    this.#store.countFailure(run.ordinal, failures, notBefore);
    this.#change(run, { failures, notBefore, takeovers: 0 });
  }

  end(run: Run, end: RunEnd): void {
    this.#store.endRun(run.ordinal, end);
    this.#close(run);
  }

  addTurn(run: Run, turn: NewTurn): Turn {
    const stored = { ...turn, number: this.#turnNumber + 1, run: run.ordinal };
    this.#store.turns.insertTurn(stored);
    this.#turnNumber = stored.number;
    this.#turns.push(stored);
    this.#settled.clear();
    if (stored.end) this.#close(run);
    else if (run.takeovers > 0 || run.failures > 0) {
      this.#store.clearTroubles(run.ordinal);
      this.#change(run, { takeovers: 0, failures: 0 });
    }
    return stored;
  }

  addResult({ turn, index }: PendingCall, result: ToolResult): void {
    this.#store.turns.insertResult(turn.number, index, result);
    this.#settled.add(index);
  }

  /** Adds a window, which from now on limits what the model gets. */
  addWindow(run: Run, window: NewWindow): void {
    const number = this.#store.readWindowNumber() + 1;
    this.#store.insertWindow({ ...window, number, run: run.ordinal });
  }

  /** The windows that this run made, for the usage of their summaries. */
  windowsOf(run: Run): NewWindow[] {
    const windows: NewWindow[] = [];
    for (const window of this.#store.windowsBack()) {
      if (window.run !== run.ordinal) break;
      windows.push(window);
    }
    return windows;
  }

  /** Loads the open runs. Runs are answered in order, so all runs before a started one have finished. */
  #load(): void {
    this.#newest = this.#store.readNewest();
    for (const run of this.#store.runsBack()) {
      if (run.last === null) this.#open.unshift(run);
      if (run.started !== null) break;
    }
    this.#turnNumber = this.#store.turns.readLastTurnNumber();
    this.#steerNumber = this.#store.steersBack().next().value?.number ?? 0;
    const run = this.current;
    if (run?.firstTurn == null) return;
    this.#left = this.#readLeft(run.ordinal);
    this.#turns = this.#store.turns.readTurns(run.firstTurn, run.ordinal);
    this.#settled = new Set(this.#store.turns.readSettled(this.#turnNumber));
    for (const steer of this.#store.steersBack()) {
      if (steer.run !== run.ordinal) break;
      this.#steers.unshift(steer);
    }
  }

  #begin(ordinal: number): void {
    this.#forget();
    this.#left = this.#readLeft(ordinal);
  }

  #forget(): void {
    this.#turns = [];
    this.#steers = [];
    this.#left = [];
    this.#settled.clear();
  }

  #readLeft(ordinal: number): Steer[] {
    const left: Steer[] = [];
    for (const steer of this.#store.steersBack()) {
      if (steer.run >= ordinal || !isMessage(steer)) continue;
      if (steer.turns !== null || steer.attachments) break;
      left.unshift(steer);
    }
    return left;
  }

  #close(run: Run): void {
    const index = this.#indexOf(run);
    if (index === 0) this.#forget();
    if (index >= 0) this.#open.splice(index, 1);
  }

  /** Keeps what has changed since the caller read its `run`. */
  #change(run: Run, changed: Partial<Run>): void {
    const index = this.#indexOf(run);
    const open = this.#open[index];
    if (open) this.#open[index] = { ...open, ...changed };
  }

  #indexOf({ ordinal }: Run): number {
    return this.#open.findIndex((run) => run.ordinal === ordinal);
  }

  #remember(idempotency: RunRequest['idempotency'], ordinal: number): void {
    if (idempotency) this.#keys?.set(idempotency.key, { ordinal, digest: idempotency.digest });
  }
}

function isMessage({ plan, switched, isNote }: Steer): boolean {
  return !plan && !switched && !isNote;
}

interface KeyedRun {
  readonly ordinal: number;
  readonly digest: string;
}

const UNTROUBLED = { takeovers: 0, failures: 0, notBefore: 0 } as const;
