/** Reads the part of the conversation that the model still gets word for word. */
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { Todo } from '../../../shared/wire/documents.ts';
import { isPreview } from '../store/errands.ts';
import type { Steer, Turn, Window } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import { TodoList } from './window/range.ts';
import type { AnsweredTurn, LeavingOut, ModelHistory, SaidInRun } from './window/transcript.ts';

/** A place in the conversation: a run, and the number of its turns before the place. */
export type RunPlace = Window['from'];

/** The newest window; null while the model gets everything. */
export function newestWindow(store: RunStore): Window | null {
  return store.windowsBack().next().value ?? null;
}

/** The place at which the messages sent word for word begin under this window. */
export function startOf(window: Window | null): RunPlace {
  return window?.from ?? { run: 1, turns: 0 };
}

/** The history for the run `ordinal`, at most as large as what the model can hold. */
export function readHistory(
  store: RunStore,
  ordinal: number,
  { toolbox, leftOut }: Pick<ModelHistory, 'toolbox' | 'leftOut'>,
): ModelHistory {
  const window = newestWindow(store);
  const sent = readSaid(store, window, startOf(window), ordinal);
  return { window: withoutDigest(window, leftOut), sent, toolbox, leftOut };
}

/** The window without what stands for the part before it, where that is left out as well. */
export function withoutDigest(window: Window | null, leftOut: LeavingOut): Window | null {
  return window && leftOut.before >= window.from.run ? { ...window, digest: null } : window;
}

/** What was said from the place `from` on, up to the run `ordinal`. */
export function readSaid(
  store: RunStore,
  window: Window | null,
  from: RunPlace,
  ordinal: number,
): SaidInRun[] {
  const runs = store.readStarted(from.run, ordinal);
  const first = runs[0];
  const before = first?.ordinal === from.run ? from.turns : 0;
  const span = { fromTurn: (first?.firstTurn ?? 1) + before, ordinal };
  const answered = readAnswered(store, span, window?.prunedThrough ?? 0);
  const turns = Map.groupBy(answered, ({ turn }) => turn.run);
  const steers = Map.groupBy(readSteers(store, from.run), ({ run }) => run);
  const known = runs.filter(({ request }) => !isPreview(request));
  return known.map((run) => ({
    run,
    before: run === first ? before : 0,
    turns: turns.get(run.ordinal) ?? [],
    steers: steers.get(run.ordinal) ?? [],
  }));
}

/** The conversation's list of todos, as the last call that wrote one or the last plan that a person brought left it. */
export function readTodos(store: RunStore, toolbox: Toolbox): readonly Todo[] {
  const window = newestWindow(store);
  const brought = newestBrought(store, startOf(window).run);
  for (const { turn, call, result } of store.turns.listsBack(firstTurnIn(store, window))) {
    const written = TodoList.safeParse(result.metadata).data;
    const writing = store.turns.readTurn(turn);
    const writer = writing?.calls[call];
    if (!written || !writer) continue;
    const { clientTools } = store.readRun(writing.run)?.request ?? {};
    if (toolbox.with(clientTools).executorOf(writer.name) !== 'edge') continue;
    return brought && isBehind(store, brought, writing) ? brought.todos : written.list;
  }
  return brought?.todos ?? window?.digest?.todos ?? [];
}

/** A list of todos that came with a plan, after so many of its run's turns; `turns` is null after all of them. */
interface Brought {
  readonly run: number;
  readonly turns: number | null;
  readonly todos: readonly Todo[];
}

/** The newest plan that a person changed or executed, in the runs from `run` on. */
function newestBrought(store: RunStore, run: number): Brought | null {
  const execution = store.readExecution(run);
  const executed = execution && { run: execution.ordinal, turns: 0, ...execution.plan };
  for (const steer of store.steersBack()) {
    if (steer.run < (executed?.run ?? run)) break;
    if (steer.plan) return { ...steer, todos: steer.plan.todos };
  }
  return executed;
}

function isBehind(store: RunStore, { run, turns }: Brought, writing: Turn): boolean {
  if (run !== writing.run || turns === null) return run >= writing.run;
  return turns > writing.number - (store.readRun(run)?.firstTurn ?? 0);
}

function firstTurnIn(store: RunStore, window: Window | null): number {
  if (!window) return 1;
  const { run, turns } = window.from;
  return (store.readRun(run)?.firstTurn ?? 1) + turns;
}

function readAnswered(
  store: RunStore,
  { fromTurn, ordinal }: { readonly fromTurn: number; readonly ordinal: number },
  prunedThrough: number,
): AnsweredTurn[] {
  const results = Map.groupBy(store.turns.readResults(fromTurn, prunedThrough), ({ turn }) => turn);
  return store.turns.readTurns(fromTurn, ordinal).map((turn) => {
    if (turn.calls.length === 0) return { turn, results: [] };
    const settled = new Map(results.get(turn.number)?.map(({ call, result }) => [call, result]));
    return { turn, results: turn.calls.map((_, index) => settled.get(index)) };
  });
}

function readSteers(store: RunStore, from: number): Steer[] {
  const steers: Steer[] = [];
  for (const steer of store.steersBack()) {
    if (steer.run < from) break;
    steers.push(steer);
  }
  return steers.reverse();
}
