/** The tape: an append-only log of events with exact positions, committed in groups, read from any cursor. */
import { isDelta, type TapeEvent, widthOf } from '../../../shared/wire/events.ts';
import type { Lost, TapeRow } from '../store/rows.ts';
import type { ConversationStore } from '../store/statements.ts';
import { storedWidth } from '../store/stored.ts';
import { TAPE_LIMITS } from './limits.ts';

/** An event with its positions. A reader that has seen the event continues at `end`. */
export interface EventOnTape {
  readonly start: number;
  readonly end: number;
  readonly event: TapeEvent;
}

/** One entry of a tape: an event, or a {@link Lost} in place of a damaged one. */
export type TapeEntry =
  | EventOnTape
  | { readonly start: number; readonly end: number; readonly event: Lost };

/** How a cursor relates to this tape. For `jump` the reader needs a snapshot: a crash took back what it saw. */
export type CursorKind = 'exact' | 'jump' | 'beyond' | 'split';

/**
 * Owns the `tape` table and the events that are not in it yet. An append `now` is committed before it returns, so
 * everything that is sent afterwards waits at the output gate until it is durable. A `grouped` append waits for the
 * next commit.
 */
export class Tape {
  readonly #store: ConversationStore;
  readonly #first: number;
  #committed: number;
  #pending: EventOnTape[] = [];
  #pendingChars = 0;
  #jumped = false;

  /** `first` is the least position that new events may have: see worker/storage/restored.ts. */
  constructor(store: ConversationStore, stored: boolean, first = 0) {
    this.#store = store;
    this.#first = first;
    const last = stored ? store.readTapeAt(Number.MAX_SAFE_INTEGER) : null;
    this.#committed = last ? endOf(last) : 0;
  }

  /** The position after the last event, committed or not. */
  get head(): number {
    return this.#pending.at(-1)?.end ?? this.#committed;
  }

  /** Whether events wait for {@link commit}; the owner calls it after at most TAPE_LIMITS.commitMs. */
  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Appends events and returns them with their positions. Deltas of one document are merged in storage only. */
  append(events: readonly TapeEvent[], commit: 'now' | 'grouped'): EventOnTape[] {
    const wide = events.filter((event) => widthOf(event) > 0);
    const isFirst = wide.length > 0 && this.#jump();
    let end = this.head;
    const positioned = wide.map((event) => {
      const start = end;
      end += widthOf(event);
      return { start, end, event };
    });
    for (const entry of positioned) this.#enqueue(entry);
    const isDue = commit === 'now' || this.#pendingChars >= TAPE_LIMITS.commitChars;
    if (isDue || isFirst) this.commit();
    return positioned;
  }

  /** Writes the waiting events, in one row unless it would grow too large. Throws for a single event too large. */
  commit(): void {
    try {
      for (const row of rowsOf(this.#pending)) this.#write(row);
    } catch (error) {
      // Events that cannot be written are dropped, as in a crash: their positions are never used again.
      this.#jumped = false;
      throw error;
    } finally {
      this.#pending = [];
      this.#pendingChars = 0;
    }
  }

  /** All readable events between two positions, in order. A delta that spans one of the positions is cut there. */
  *read(from: number, to?: number): Generator<EventOnTape> {
    for (const entry of this.entries(from, to)) if (!isLost(entry)) yield entry;
  }

  /** As {@link read}, with the lost events. */
  *entries(from: number, to = Number.POSITIVE_INFINITY): Generator<TapeEntry> {
    for (const entry of this.#entriesFrom(from)) {
      if (entry.end <= from) continue;
      if (Math.max(entry.start, from) >= to) return;
      yield isLost(entry) ? entry : cutAfter(cutBefore(entry, from), to);
    }
  }

  /** The stored bytes between two positions, in whole rows. Counts from the end back and stops beyond `enough`. */
  bytesBetween(from: number, to: number, enough: number): number {
    let bytes = to > this.#committed ? this.#pendingChars : 0;
    for (const size of this.#store.tapeSizesBack(from, to)) {
      bytes += size;
      if (bytes > enough) break;
    }
    return bytes;
  }

  /** The changes of plans between two positions. `from` is the end of a response: they change responses before it. */
  *planUpdates(from: number, to = Number.MAX_SAFE_INTEGER): Generator<TapeEvent> {
    for (const row of this.#store.planRows(from, to)) {
      for (const { event, start } of entriesOf(row)) {
        if (event.type === 'plan_update' && start < to) yield event;
      }
    }
  }

  classify(position: number): CursorKind {
    const holder = this.#entryHolding(position);
    if (holder) return splitsPair(holder, position) ? 'split' : 'exact';
    if (position === 0) return 'exact';
    const nextLanding = this.#jumped ? this.head : this.#landing;
    return position > nextLanding ? 'beyond' : 'jump';
  }

  /**
   * Moves the head far ahead before the first append of an instance, because a crash may have taken back shown events
   * whose positions must not be used again. True for that first append. It must be written before it is shown, or the
   * next instance would begin at the same position.
   */
  #jump(): boolean {
    if (this.#jumped) return false;
    this.#committed = this.#landing;
    this.#jumped = true;
    return true;
  }

  get #landing(): number {
    return Math.max(this.#committed + TAPE_LIMITS.jump, this.#first);
  }

  #enqueue(entry: EventOnTape): void {
    const { event } = entry;
    this.#pendingChars += storedChars(event);
    const last = this.#pending.at(-1);
    const merged = last && isDelta(event) ? mergeDeltas(last, entry) : undefined;
    if (merged) this.#pending[this.#pending.length - 1] = merged;
    else this.#pending.push(entry);
  }

  #write(row: readonly EventOnTape[]): void {
    const first = row[0];
    const last = row.at(-1);
    if (!first || !last) return;
    this.#store.appendTape(
      first.start,
      row.map((entry) => entry.event),
    );
    this.#committed = last.end;
  }

  *#entriesFrom(position: number): Generator<TapeEntry> {
    const holder = this.#committed > 0 ? this.#store.readTapeAt(position) : null;
    const from = holder?.position ?? 0;
    if (this.#committed > 0) for (const row of this.#store.tapeFrom(from)) yield* entriesOf(row);
    yield* this.#pending;
  }

  /** The entry that contains `position` or ends at it. */
  #entryHolding(position: number): TapeEntry | undefined {
    const pending = this.#pending.find((entry) => entry.start <= position && position <= entry.end);
    if (pending) return pending;
    const row = this.#committed > 0 ? this.#store.readTapeAt(position) : null;
    if (!row) return undefined;
    return entriesOf(row).find((entry) => entry.start <= position && position <= entry.end);
  }
}

function rowsOf(entries: readonly EventOnTape[]): EventOnTape[][] {
  const rows: EventOnTape[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const entry of entries.flatMap(cutToRows)) {
    chars += storedChars(entry.event);
    if (chars > TAPE_LIMITS.maxRowChars) {
      rows.push([]);
      chars = storedChars(entry.event);
    }
    rows.at(-1)?.push(entry);
  }
  return rows;
}

/** Splits a delta into pieces that fit a row. No piece ends inside a character. */
function cutToRows(entry: EventOnTape): EventOnTape[] {
  const { event, start, end } = entry;
  if (!isDelta(event) || event.delta.length <= TAPE_LIMITS.maxRowChars) return [entry];
  const middle = start + TAPE_LIMITS.maxRowChars;
  const cut = splitsPair(entry, middle) ? middle - 1 : middle;
  const head = { start, end: cut, event: { ...event, delta: event.delta.slice(0, cut - start) } };
  return [head, ...cutToRows(cutBefore({ start, end, event }, cut))];
}

function storedChars(event: TapeEvent): number {
  return isDelta(event) ? event.delta.length : JSON.stringify(event).length;
}

function entriesOf(row: TapeRow): TapeEntry[] {
  let start = row.position;
  return row.events.map((event): TapeEntry => {
    const end = start + storedWidth(event);
    const entry = event.type === 'lost' ? { start, end, event } : { start, end, event };
    start = end;
    return entry;
  });
}

function isLost(entry: TapeEntry): entry is Exclude<TapeEntry, EventOnTape> {
  return entry.event.type === 'lost';
}

/** The position after a row. A damaged row may have been longer, but never as long as the jump of the next instance. */
function endOf(row: TapeRow): number {
  return row.events.reduce((position, event) => position + storedWidth(event), row.position);
}

function mergeDeltas(last: EventOnTape, next: EventOnTape): EventOnTape | undefined {
  const [a, b] = [last.event, next.event];
  if (!isDelta(a) || !isDelta(b) || a.type !== b.type || a.documentId !== b.documentId)
    return undefined;
  return { start: last.start, end: next.end, event: { ...a, delta: a.delta + b.delta } };
}

function cutBefore(entry: EventOnTape, position: number): EventOnTape {
  const { event, start, end } = entry;
  if (!isDelta(event) || start >= position) return entry;
  return { start: position, end, event: { ...event, delta: event.delta.slice(position - start) } };
}

function cutAfter(entry: EventOnTape, position: number): EventOnTape {
  const { event, start, end } = entry;
  if (!isDelta(event) || end <= position) return entry;
  return {
    start,
    end: position,
    event: { ...event, delta: event.delta.slice(0, position - start) },
  };
}

function splitsPair(entry: TapeEntry, position: number): boolean {
  if (isLost(entry) || !isDelta(entry.event) || position <= entry.start || position >= entry.end)
    return false;
  const offset = position - entry.start;
  const before = entry.event.delta.charCodeAt(offset - 1);
  const after = entry.event.delta.charCodeAt(offset);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
