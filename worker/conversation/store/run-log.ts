/** Runs as stored, with a copy of what is at work in memory; says what is to be done next and never does it. */
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { OfferSet } from '../../../shared/offer.ts';
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import { toolboxOf } from './offered-tools.ts';
import type {
  Call,
  Machine,
  NewRun,
  NewTurn,
  NewWindow,
  Run,
  RunEnd,
  RunRequest,
  Steer,
  Turn,
} from './rows.ts';
import type { RunStore } from './run-statements.ts';

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

/**
 * Every change is written to the store first, in the caller's synchronous step. Only runs that have not ended are held:
 * everything else is looked up, so that an instance costs the same however long the conversation is.
 */
export class RunLog {
  readonly #store: RunStore;
  /** Those that have not ended, in the order in which they are answered. */
  readonly #open: Run[] = [];
  #newest = 0;
  #turnNumber = 0;
  #steerNumber = 0;
  /** Of the run at work. */
  #turns: Turn[] = [];
  #steers: Steer[] = [];
  /** The calls of its last turn that have a result, by their places. */
  #settled = new Set<number>();
  /** The runs that requests have led to, by their keys; null until one is looked for. */
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
      ? { type: 'awaiting_tools', run, turn, pending }
      : { type: 'asking', run };
  }

  /** The run at work, or the first that waits. */
  get current(): Run | undefined {
    return this.#open[0];
  }

  /** What the run at work may use. */
  get toolbox(): Toolbox {
    return toolboxOf(this.current ?? { machine: null });
  }

  /** The set of this digest, if a run was offered it before. */
  heldOffers(digest: string): OfferSet | undefined {
    return this.#store.readOffers(digest);
  }

  /** The runs that have not ended: the one at work, then those that wait. */
  get open(): readonly Run[] {
    return this.#open;
  }

  /** The ordinal of the newest run; 0 before the first one. */
  get newest(): number {
    return this.#newest;
  }

  /** Turns of the run at work. */
  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** The messages that steered the run at work, in the order they came. */
  get steers(): readonly Steer[] {
    return this.#steers;
  }

  /** The calls of the last turn that have no result yet. */
  get pending(): readonly PendingCall[] {
    const turn = this.#turns.at(-1);
    if (!turn) return [];
    return turn.calls.flatMap((call, index) =>
      this.#settled.has(index) ? [] : [{ turn, index, call }],
    );
  }

  /** Whether a message waits to be told to the model. */
  get hasWaitingSteer(): boolean {
    return this.#steers.some(({ turns }) => turns === null);
  }

  /** Something that the run at work stands on cannot be read any more: it must not go on. */
  get isDamaged(): boolean {
    const run = this.current;
    if (!run) return false;
    const isWhole = this.#turns.every(
      ({ isDamaged, number }, index) => !isDamaged && number === (run.firstTurn ?? 0) + index,
    );
    return run.isDamaged === true || !isWhole;
  }

  /** Rows that earlier instances have written for the run at work; those of updates are not known any more. */
  get storedRows(): number {
    const run = this.current;
    return run && run.started !== null ? this.#store.countRows(run) : 0;
  }

  /** Of any run, ended or not; undefined when there is none. */
  find(ordinal: number): Run | undefined {
    const open = this.#open.find((run) => run.ordinal === ordinal);
    return open ?? this.#store.readRun(ordinal) ?? undefined;
  }

  /** All runs, the newest one first, read as they are asked for. */
  back(): Generator<Run, undefined> {
    return this.#store.runsBack();
  }

  /** When the calls of a run's turn are given up, in epoch milliseconds. */
  deadlineOf(run: Run, turn: Turn): number {
    return Math.max(turn.atMs + RUN_LIMITS.callDeadlineMs, run.deadline ?? 0);
  }

  /** Gives the calls of the run at work until then: a person takes longer than a command. */
  setDeadline(deadline: number): void {
    const run = this.current;
    if (!run) return;
    this.#store.setDeadline(run.ordinal, deadline);
    this.#replace({ ...run, deadline });
  }

  /** For the run at work. */
  addSteer(run: Run, steer: Pick<Steer, 'content' | 'idempotency'>): void {
    const stored = { ...steer, number: this.#steerNumber + 1, run: run.ordinal, turns: null };
    this.#store.insertSteer(stored);
    this.#steerNumber = stored.number;
    this.#steers.push(stored);
    this.#remember(steer.idempotency, run.ordinal);
  }

  /** The messages that waited stand behind the turns that there are now. */
  placeSteers(run: Run): void {
    const turns = this.#turns.length;
    this.#store.placeSteers(run.ordinal, turns);
    this.#steers = this.#steers.map((steer) => ({ ...steer, turns: steer.turns ?? turns }));
  }

  /** The run that this request has led to before, as its message or as one that steered it. */
  findByKey(key: string): { run: Run; digest: string } | undefined {
    this.#keys ??= this.#readKeys();
    const known = this.#keys.get(key);
    const run = known && this.find(known.ordinal);
    return run && { run, digest: known.digest };
  }

  /** For a run that has not started. */
  changeRequest(run: Run, request: RunRequest): void {
    this.#store.updateRequest(run.ordinal, request);
    this.#replace({ ...run, request });
  }

  /** Adds a run; one that is at work from the start must find nothing else at work. */
  submit(run: Omit<NewRun, 'firstTurn'>): void {
    const firstTurn = run.started === null ? null : this.#turnNumber + 1;
    const stored = { ...run, ...UNTROUBLED, last: null, deadline: null, firstTurn };
    this.#store.insertRun(stored);
    this.#newest = run.ordinal;
    this.#open.push(stored);
    if (run.started !== null) this.#begin();
    this.#remember(run.request.idempotency, run.ordinal);
  }

  start(run: Run, started: number, machine: Machine | null): void {
    const firstTurn = this.#turnNumber + 1;
    const running: Run = { ...run, status: 'running', started, machine, firstTurn };
    this.#store.startRun(running);
    this.#replace(running);
    this.#begin();
  }

  /** Counts a takeover and returns how many there were since the last turn or attempt that came to its end. */
  takeOver(run: Run): number {
    const takeovers = run.takeovers + 1;
    this.#store.countTakeover(run.ordinal, takeovers);
    this.#replace({ ...run, takeovers });
    return takeovers;
  }

  /**
   * Counts an attempt that failed before anything was shown; the next one may begin at `notBefore`. Whoever lived to see
   * it fail is past what the takeovers were counted for.
   */
  countFailure(run: Run, failures: number, notBefore: number): void {
    this.#store.countFailure(run.ordinal, failures, notBefore);
    this.#replace({ ...run, failures, notBefore, takeovers: 0 });
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
      this.#replace({ ...run, takeovers: 0, failures: 0 });
    }
    return stored;
  }

  addResult({ turn, index }: PendingCall, result: ToolResult): void {
    this.#store.turns.insertResult(turn.number, index, result);
    this.#settled.add(index);
  }

  /** From now on the model is told no more than this. */
  addWindow(run: Run, window: NewWindow): void {
    const number = this.#store.readWindowNumber() + 1;
    this.#store.insertWindow({ ...window, number, run: run.ordinal });
  }

  /** What the summaries of this run took. */
  windowsOf(run: Run): NewWindow[] {
    const windows: NewWindow[] = [];
    for (const window of this.#store.windowsBack()) {
      if (window.run !== run.ordinal) break;
      windows.push(window);
    }
    return windows;
  }

  /** Runs are answered in order: before one that has started, all have ended. */
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
    this.#turns = this.#store.turns.readTurns(run.firstTurn, run.ordinal);
    this.#settled = new Set(this.#store.turns.readSettled(this.#turnNumber));
    for (const steer of this.#store.steersBack()) {
      if (steer.run !== run.ordinal) break;
      this.#steers.unshift(steer);
    }
  }

  #begin(): void {
    this.#turns = [];
    this.#steers = [];
    this.#settled.clear();
  }

  #close(run: Run): void {
    const index = this.#indexOf(run);
    if (index === 0) this.#begin();
    if (index >= 0) this.#open.splice(index, 1);
  }

  #replace(run: Run): void {
    const index = this.#indexOf(run);
    if (index >= 0) this.#open[index] = run;
  }

  #indexOf({ ordinal }: Run): number {
    return this.#open.findIndex((run) => run.ordinal === ordinal);
  }

  #readKeys(): Map<string, KeyedRun> {
    const after = this.#newest - RUN_LIMITS.rememberedKeys;
    return new Map(this.#store.readKeys(after).map(({ key, ...keyed }) => [key, keyed]));
  }

  #remember(idempotency: RunRequest['idempotency'], ordinal: number): void {
    if (idempotency) this.#keys?.set(idempotency.key, { ordinal, digest: idempotency.digest });
  }
}

interface KeyedRun {
  readonly ordinal: number;
  readonly digest: string;
}

const UNTROUBLED = { takeovers: 0, failures: 0, notBefore: 0 } as const;
