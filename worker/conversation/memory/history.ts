/** What is stored of the conversation's words, from where the model is still told them. */
import type { Steer, Window } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { AnsweredTurn, History, Told } from './transcript.ts';

/** A run, and how many of its turns lie before the place. */
export type Place = Window['from'];

/** The window, and the number of its first turn. */
export function toldSince(store: RunStore): { window: Window | null; fromTurn: number } {
  const window = newestWindow(store);
  if (!window) return { window, fromTurn: 1 };
  const { run, turns } = window.from;
  return { window, fromTurn: (store.readRun(run)?.firstTurn ?? 1) + turns };
}

/** Null while the model is told everything. */
export function newestWindow(store: RunStore): Window | null {
  return store.windowsBack().next().value ?? null;
}

/** Where the words under this window begin. */
export function startOf(window: Window | null): Place {
  return window?.from ?? { run: 1, turns: 0 };
}

/** All that the run of this ordinal is told; as large as what the model can hold. */
export function readHistory(store: RunStore, ordinal: number): History {
  const window = newestWindow(store);
  return { window, told: readTold(store, window, startOf(window), ordinal) };
}

/** What was said from this place under the window on, up to the run of this ordinal. */
export function readTold(
  store: RunStore,
  window: Window | null,
  from: Place,
  ordinal: number,
): Told[] {
  const runs = store.readStarted(from.run, ordinal);
  const first = runs[0];
  const before = first?.ordinal === from.run ? from.turns : 0;
  const span = { fromTurn: (first?.firstTurn ?? 1) + before, ordinal };
  const answered = readAnswered(store, span, window?.prunedThrough ?? 0);
  const turns = Map.groupBy(answered, ({ turn }) => turn.run);
  const steers = Map.groupBy(readSteers(store, from.run), ({ run }) => run);
  return runs.map((run) => ({
    run,
    before: run === first ? before : 0,
    turns: turns.get(run.ordinal) ?? [],
    steers: steers.get(run.ordinal) ?? [],
  }));
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
