/** The object's one alarm, shared by everything that has to happen later. */
import type { RowMeter } from '../storage/row-meter.ts';

/** What has to happen at a moment, in epoch milliseconds. One that has passed is due as soon as the alarm comes. */
export interface Deadline<Name extends string> {
  readonly name: Name;
  readonly atMs: number;
}

export interface Duties<Name extends string> {
  /** All deadlines that there are now: from what is stored and what this instance knows, so that none has a row. */
  derive(nowMs: number): readonly Deadline<Name>[];
  /** Called for a deadline that is due. It can be called again for the same one. */
  readonly handlers: Readonly<Record<Name, () => void | Promise<void>>>;
  /** How long after an alarm a deadline that was due is looked at again, where no other one comes before. */
  readonly againMs: number;
}

/** Owns the alarm: it stands at the next deadline or earlier. Setting it costs a row, so it only moves closer. */
export class Deadlines<Name extends string> {
  readonly #storage: DurableObjectStorage;
  readonly #meter: RowMeter;
  readonly #duties: Duties<Name>;
  /** Undefined until it was looked up. */
  #at: number | null | undefined;
  #isStopped = false;

  /** What is not stored yet has no alarm to look up: its first one is set in the caller's synchronous step. */
  constructor(
    storage: DurableObjectStorage,
    meter: RowMeter,
    isStored: boolean,
    duties: Duties<Name>,
  ) {
    this.#storage = storage;
    this.#meter = meter;
    this.#duties = duties;
    if (!isStored) this.#at = null;
  }

  /** After it, {@link arm} sets the alarm in its caller's synchronous step: what is stored there cannot come without it. */
  async look(): Promise<void> {
    if (this.#at !== undefined) return;
    const standing = await this.#storage.getAlarm();
    // Others may have asked meanwhile: what they set is nearer than what stood before.
    if (this.#at === undefined) this.#at = standing;
  }

  /** Sees to it that the alarm comes for the next deadline. To be called where one has come to be, or come closer. */
  async arm(): Promise<void> {
    if (this.#at === undefined) await this.look();
    const nowMs = Date.now();
    await this.#set(this.#nextMs(this.#duties.derive(nowMs), nowMs));
  }

  /**
   * The alarm's handler. The alarm is set again first, so a handler that fails, or dies with its instance, is called
   * again. Throws only where the alarm cannot be set: then the runtime calls again.
   */
  async fire(): Promise<void> {
    this.#at = null;
    const nowMs = Date.now();
    const deadlines = this.#duties.derive(nowMs);
    await this.#set(this.#nextMs(deadlines, nowMs));
    const due = deadlines.filter(({ atMs }) => atMs <= nowMs);
    for (const name of new Set(due.map((deadline) => deadline.name))) await this.#meet(name);
  }

  /** The conversation is deleted: whatever still asks gets no alarm, so that nothing stays behind. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Null where nothing has to happen. */
  #nextMs(deadlines: readonly Deadline<Name>[], nowMs: number): number | null {
    if (deadlines.length === 0) return null;
    const later = deadlines.filter(({ atMs }) => atMs > nowMs).map(({ atMs }) => atMs);
    return later.length > 0 ? Math.min(...later) : nowMs + this.#duties.againMs;
  }

  async #set(atMs: number | null): Promise<void> {
    if (this.#isStopped || atMs === null) return;
    if (typeof this.#at === 'number' && this.#at <= atMs) return;
    this.#at = atMs;
    this.#meter.count(1);
    await this.#storage.setAlarm(atMs);
  }

  async #meet(name: Name): Promise<void> {
    try {
      await this.#duties.handlers[name]();
    } catch (error) {
      console.error('a deadline was not met', name, error); // The alarm that was set comes back to it.
    }
  }
}
