/** Which parts a model does not get: those that its server has refused, and those left out on trial. */

import type { LeftPart, LeftRow, Run } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import { hasFound, LeftOut } from './window/left-out.ts';
import { type ModelHistory, piecesOf } from './window/transcript.ts';

/**
 * Owns the rows, and the trials of the turn that is being asked for. A trial that leads to an answer becomes rows. One
 * that does not leaves nothing: the run's own words are then the suspects of later refusals.
 */
export class RefusedParts {
  readonly #store: RunStore;
  #rows: readonly LeftRow[] | null = null;
  #trials: Trials | null = null;
  /** The kinds of parts without which a run has an answer. A second one of a kind would let it repeat what it forgot. */
  #helped: { readonly run: number; readonly types: readonly LeftPart['type'][] } | null = null;

  constructor(store: RunStore) {
    this.#store = store;
  }

  /** What requests to the model are made without. With a turn, the trial that it is at counts too. */
  for(model: string, turn?: TurnPlace): LeftOut {
    return new LeftOut([...this.#partsOf(model), ...(turn ? this.#trialOf(turn) : [])]);
  }

  /** Whether the history was made shorter for the turn that is being asked for. */
  wasShortened(turn: TurnPlace): boolean {
    return this.#isOf(turn) && this.#trials?.isShortened === true;
  }

  shortened(turn: TurnPlace): void {
    this.#trialsOf(turn).isShortened = true;
  }

  /** Begins the next trial. False where there is none left: each kind of part helps a run once. */
  tryNext(turn: TurnPlace, history: ModelHistory): boolean {
    const trials = this.#trialsOf(turn);
    trials.plans ??= this.#plansOf(turn, history);
    trials.next++;
    return trials.current.length > 0;
  }

  /**
   * The turn has its answer. What it was made without since this turn stays left out, and is reported with the words of
   * the refusal; null for nothing.
   */
  answered(turn: TurnPlace, refusal: ErrorReport | undefined): ErrorReport | null {
    const parts = this.#trialOf(turn);
    this.#trials = null;
    if (parts.length === 0) return null;
    const types = parts.map(({ type }) => type);
    const before = this.#helped?.run === turn.run ? this.#helped.types : [];
    this.#helped = { run: turn.run, types: [...before, ...types] };
    for (const part of parts) this.#add(turn.run, { model: turn.model, part });
    const names = [...new Set(types.map((type) => NAMES[type]))];
    return {
      code: 'LEFT_OUT',
      source: 'upstream',
      message: `The model server refused a part of this conversation, so this answer was made without it: ${names.join('; ')}. Nothing is deleted, and another model gets it again.`,
      ...(refusal?.details !== undefined && { details: refusal.details }),
    };
  }

  /** No trial has led to an answer. */
  refused(turn: TurnPlace): void {
    const wasTried = this.#isOf(turn) && this.#trials?.plans !== undefined;
    this.#trials = null;
    if (!wasTried) return;
    const part = { type: 'run', number: turn.run } as const;
    this.#add(turn.run, { model: turn.model, part, isSuspect: true });
  }

  /** The next requests are tried whole again. */
  forget(): void {
    this.#rows = null;
    this.#trials = null;
    this.#store.deleteLeft();
  }

  #plansOf(turn: TurnPlace, history: ModelHistory): LeftPart[][] {
    const helped = this.#helped?.run === turn.run ? this.#helped.types : [];
    const whole = { ...history, leftOut: new LeftOut([]) };
    return plansOf(turn, whole, this.#suspects(turn.model)).filter((plan) =>
      plan.every(({ type }) => !helped.includes(type)),
    );
  }

  #partsOf(model: string): LeftPart[] {
    return this.#all.filter((row) => row.model === model && !row.isSuspect).map(({ part }) => part);
  }

  /** The runs that some server has refused to the end. */
  #suspects(model: string): LeftPart[] {
    const left = new Set(this.#partsOf(model).map((part) => JSON.stringify(part)));
    return this.#all
      .filter((row) => row.isSuspect)
      .map(({ part }) => part)
      .filter((part) => !left.has(JSON.stringify(part)));
  }

  get #all(): readonly LeftRow[] {
    this.#rows ??= this.#store.readLeft();
    return this.#rows;
  }

  #add(run: number, row: LeftRow): void {
    const known = this.#all;
    this.#store.insertLeft(run, row);
    this.#rows = [...known, row];
  }

  #trialOf(turn: TurnPlace): readonly LeftPart[] {
    return this.#isOf(turn) ? (this.#trials?.current ?? []) : [];
  }

  #isOf(turn: TurnPlace): boolean {
    return this.#trials?.key === keyOf(turn);
  }

  #trialsOf(turn: TurnPlace): Trials {
    if (!this.#trials || !this.#isOf(turn)) this.#trials = new Trials(keyOf(turn));
    return this.#trials;
  }
}

const NAMES: Readonly<Record<LeftPart['type'], string>> = {
  found: 'the pictures and files of your message',
  results: 'what the tools returned last',
  run: 'an earlier message that was refused before',
  before: 'the earlier messages and answers',
};

/** The turn that is being asked for: its run, the model that is asked, and the run's turns before it. */
export interface TurnPlace {
  readonly run: Run['ordinal'];
  readonly model: string;
  readonly turns: number;
}

class Trials {
  readonly key: string;
  isShortened = false;
  plans: readonly (readonly LeftPart[])[] | undefined;
  next = -1;

  constructor(key: string) {
    this.key = key;
  }

  get current(): readonly LeftPart[] {
    return this.plans?.[this.next] ?? [];
  }
}

function keyOf({ run, model, turns }: TurnPlace): string {
  return `${run} ${turns} ${model}`;
}

/**
 * What to leave out, one after the other: what this request has added beside the person's words, the runs that were
 * refused before, both, and at last all that was said before the run and all results of it.
 */
function plansOf(
  { run }: TurnPlace,
  history: ModelHistory,
  suspects: readonly LeftPart[],
): LeftPart[][] {
  const own = piecesOf(history).filter((piece) => piece.run.ordinal === run);
  const turns = own.flatMap(({ answered }) => answered?.turn ?? []);
  const newest = turns.findLast(({ calls }) => calls.length > 0);
  const found: LeftPart[] = own.some(hasFound) ? [{ type: 'found', number: run }] : [];
  const results = turns
    .filter(({ calls }) => calls.length > 0)
    .map(({ number }): LeftPart => ({ type: 'results', number }));
  const added = newest ? results.slice(-1) : found;
  const earlier = history.sent.some((said) => said.run.ordinal < run) || history.window?.digest;
  const before: LeftPart[] = earlier ? [{ type: 'before', number: run }] : [];
  const plans = [
    added,
    [...suspects],
    [...added, ...suspects],
    before,
    [...found, ...results, ...before],
  ];
  const seen = new Set(['[]']);
  return plans.filter((plan) => {
    const key = JSON.stringify(plan);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
