/** The object's one alarm, shared by everything that has to happen later. */
import type { RowMeter } from '../storage/row-meter.ts';

/** Owns the alarm: it stands at the earliest moment anyone asked for. Setting it costs a row, so it only moves closer. */
export class Schedule {
  readonly #storage: DurableObjectStorage;
  readonly #meter: RowMeter;
  /** Undefined until it was looked up. */
  #at: number | null | undefined;
  #isStopped = false;

  /** What is not stored yet has no alarm to look up: its first one is set in the caller's synchronous step. */
  constructor(storage: DurableObjectStorage, meter: RowMeter, isStored: boolean) {
    this.#storage = storage;
    this.#meter = meter;
    if (!isStored) this.#at = null;
  }

  /** After it, {@link ensure} sets the alarm in its caller's synchronous step: what is stored there cannot come without it. */
  async look(): Promise<void> {
    if (this.#at !== undefined) return;
    const standing = await this.#storage.getAlarm();
    // Others may have asked meanwhile: what they set is nearer than what stood before.
    if (this.#at === undefined) this.#at = standing;
  }

  /** Sees to it that the alarm fires at `atMs` (epoch) or earlier. */
  async ensure(atMs: number): Promise<void> {
    if (this.#at === undefined) await this.look();
    if (this.#isStopped || (typeof this.#at === 'number' && this.#at <= atMs)) return;
    this.#at = atMs;
    this.#meter.count(1);
    await this.#storage.setAlarm(atMs);
  }

  /** To be called first by the alarm's handler: the alarm is spent. */
  fired(): void {
    this.#at = null;
  }

  /** The conversation is deleted: whatever still asks gets no alarm, so that nothing stays behind. */
  stop(): void {
    this.#isStopped = true;
  }
}
