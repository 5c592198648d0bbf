/** A damaged tape as events that hold together: what is missing is told, and what everything else hangs on is put in. */
import type { TapeEvent } from '../../../shared/events.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import type { Run } from '../store/rows.ts';
import { errorDocument, UNREADABLE } from './error-document.ts';
import { doneEvent, type EndStatus, startEvent } from './run-events.ts';
import type { Entry, Positioned } from './tape.ts';

/** What a run's own row says of its place on the tape. */
export interface Placed extends Pick<Run, 'ordinal' | 'status' | 'started' | 'last'> {
  readonly request: Pick<Run['request'], 'model' | 'mode' | 'createdMs'>;
}

export interface Damage {
  readonly conversationId: string;
  /** The runs whose events lie there, in order. Asked for once, and only when something is found to be missing, if it is a function. */
  readonly runs: readonly Placed[] | (() => readonly Placed[]);
  /** Where the reading ends. */
  readonly to?: number | undefined;
  /** Called when something is found to be missing. */
  readonly onMissing?: () => void;
}

/**
 * The entries, without those that are lost. A response that has ended gets an `error` document in front of its `done` that
 * says that a part of it is missing. The first and the last event of a run are made from its row where they are lost.
 */
export function* mended(entries: Iterable<Entry>, damage: Damage): Generator<Positioned> {
  const mender = new Mender(damage);
  for (const entry of entries) yield* mender.see(entry);
  yield* mender.end();
}

/** The start or the end of a run, which its row says to be at this position. */
interface Mark {
  readonly at: number;
  readonly event: TapeEvent;
}

class Mender {
  readonly #damage: Damage;
  /** Those that were not passed yet, in order; null until they are asked for. */
  #marks: Mark[] | null;
  /** Something of the response at hand is missing, and was not told yet. */
  #isMissing = false;
  /** The highest of the response at hand. */
  #sequence = 0;

  constructor(damage: Damage) {
    this.#damage = damage;
    this.#marks = typeof damage.runs === 'function' ? null : marksOf(damage.runs, damage);
  }

  *see({ start, end, event }: Entry): Generator<Positioned> {
    if (event.type === 'lost') return this.#lose(start);
    yield* this.#passTo(start);
    if (this.#marks?.[0]?.at === start) this.#marks.shift();
    yield* this.#tell({ start, end, event });
  }

  *end(): Generator<Positioned> {
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

  /** Everything that should have stood before this position. */
  *#passTo(position: number): Generator<Positioned> {
    for (let mark = this.#marks?.[0]; mark && mark.at < position; mark = this.#marks?.[0]) {
      this.#marks?.shift();
      yield* this.#tell({ start: mark.at, end: mark.at + 1, event: mark.event });
      if (mark.event.type === 'response_start') this.#miss();
    }
  }

  *#tell(entry: Positioned): Generator<Positioned> {
    const { event, start } = entry;
    if (event.type === 'done' && this.#isMissing) {
      for (const told of this.#notice()) yield { start, end: start, event: told };
    }
    if (event.type === 'response_start') this.#sequence = 0;
    if (event.type === 'response_start' || event.type === 'done') this.#isMissing = false;
    if (event.type === 'document_start') this.#follow(event);
    yield entry;
  }

  /** Documents are numbered without gaps. */
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
  runs: readonly Placed[],
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

const NO_WORK = { turns: [], windows: [], durationMs: 0, rows: undefined };
