/** Repairs a damaged tape for reading: reports missing parts, and recreates first and last events of responses. */

import { responseIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { Run } from '../store/rows.ts';
import { errorDocument, UNREADABLE } from './error-document.ts';
import { doneEvent, type EndStatus, startEvent } from './run-events.ts';
import type { EventOnTape, TapeEntry } from './tape.ts';

/** A run's place on the tape, from the run's own row. */
export interface PlacedRun extends Pick<Run, 'ordinal' | 'status' | 'started' | 'last'> {
  readonly request: Pick<Run['request'], 'model' | 'mode' | 'createdMs'>;
}

export interface Damage {
  readonly conversationId: string;
  /** The runs whose events are read, in order. A function is called once, and only when something is missing. */
  readonly runs: readonly PlacedRun[] | (() => readonly PlacedRun[]);
  /** The position at which reading ends. */
  readonly to?: number | undefined;
  /** Called when a part is missing. */
  readonly onMissing?: () => void;
}

/** The readable entries; an `error` document where parts are missing, and lost starts and ends from the rows. */
export function* repaired(entries: Iterable<TapeEntry>, damage: Damage): Generator<EventOnTape> {
  const repair = new Repair(damage);
  for (const entry of entries) yield* repair.see(entry);
  yield* repair.end();
}

/** The first or last event of a run, at the position that its row gives. */
interface Mark {
  readonly at: number;
  readonly event: TapeEvent;
}

class Repair {
  readonly #damage: Damage;
  /** The marks that reading has not reached yet, in order; null until the runs are asked for. */
  #marks: Mark[] | null;
  /** Whether a part of the present response is missing and not reported yet. */
  #isMissing = false;
  /** The highest sequence among the present response's documents. */
  #sequence = 0;

  constructor(damage: Damage) {
    this.#damage = damage;
    this.#marks = typeof damage.runs === 'function' ? null : marksOf(damage.runs, damage);
  }

  *see({ start, end, event }: TapeEntry): Generator<EventOnTape> {
    if (event.type === 'lost') return this.#lose(start);
    yield* this.#passTo(start);
    if (this.#marks?.[0]?.at === start) this.#marks.shift();
    yield* this.#pass({ start, end, event });
  }

  *end(): Generator<EventOnTape> {
    yield* this.#passTo(this.#damage.to ?? Number.POSITIVE_INFINITY);
  }

  #lose(position: number): void {
    const { runs } = this.#damage;
    if (typeof runs === 'function') {
      this.#marks ??= marksOf(runs(), this.#damage).filter(({ at }) => at >= position);
    }
    this.#miss();
  }

  #miss(): void {
    this.#isMissing = true;
    this.#damage.onMissing?.();
  }

  /** Recreates the missing marks before this position. */
  *#passTo(position: number): Generator<EventOnTape> {
    for (let mark = this.#marks?.[0]; mark && mark.at < position; mark = this.#marks?.[0]) {
      this.#marks?.shift();
      yield* this.#pass({ start: mark.at, end: mark.at + 1, event: mark.event });
      if (mark.event.type === 'response_start') this.#miss();
    }
  }

  *#pass(entry: EventOnTape): Generator<EventOnTape> {
    const { event, start } = entry;
    if (event.type === 'done' && this.#isMissing) {
      for (const notice of this.#notice()) yield { start, end: start, event: notice };
    }
    if (event.type === 'response_start') this.#sequence = 0;
    if (event.type === 'response_start' || event.type === 'done') this.#isMissing = false;
    if (event.type === 'document_start') this.#follow(event);
    yield entry;
  }

  /** A gap in the documents' numbers means that a document is missing. */
  #follow({ document }: Extract<TapeEvent, { type: 'document_start' }>): void {
    if (document.sequence > this.#sequence + 1) this.#miss();
    this.#sequence = Math.max(this.#sequence, document.sequence);
    if (document.metadata?.['errorCode'] === UNREADABLE) this.#isMissing = false;
  }

  #notice(): TapeEvent[] {
    return errorDocument(this.#sequence + 1, {
      code: UNREADABLE,
      source: 'drawbridge',
      message:
        'A part of this answer is damaged in storage and cannot be shown. The rest of it is here.',
    });
  }
}

function marksOf(
  runs: readonly PlacedRun[],
  { conversationId, to = Number.POSITIVE_INFINITY }: Damage,
): Mark[] {
  return runs
    .flatMap((run) => {
      const { ordinal, started, last, status } = run;
      if (started === null) return [];
      const begin = { at: started, event: startEvent(conversationId, run, run.request.createdMs) };
      if (last === null) return [begin];
      const id = responseIdOf(conversationId, ordinal);
      return [begin, { at: last - 1, event: doneEvent(id, status as EndStatus, NO_WORK) }];
    })
    .filter(({ at }) => at < to);
}

const NO_WORK = { turns: [], windows: [], tasks: [], durationMs: 0, rows: undefined, sent: {} };
