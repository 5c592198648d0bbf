/** The object's one alarm, shared by all deadlines of the conversation. */
import type { RowMeter } from '../storage/row-meter.ts';

/** A time in epoch milliseconds at which a handler is due. A deadline in the past is due at the next alarm. */
export interface Deadline<Name extends string> {
  readonly name: Name;
  readonly atMs: number;
}

interface AlarmSettings {
  /** Called when a handler has thrown. Must not throw. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** How soon the alarm comes for a deadline that is due: its handler may fail, or die with this instance. */
  readonly againMs: number;
}

interface Duty extends Deadline<string> {
  readonly meet: () => void | Promise<void>;
}

/** Owns the alarm, at most `againMs` away while a deadline is due. Setting it costs a row, so it only moves closer. */
export class Deadlines {
  readonly #storage: DurableObjectStorage;
  readonly #meter: RowMeter;
  readonly #settings: AlarmSettings;
  readonly #parts: ((nowMs: number) => Duty[])[] = [];
  /** The alarm's time; null without an alarm, undefined until it is looked up. */
  #at: number | null | undefined;
  #isStopped = false;

  /** A conversation that is not stored yet has no alarm to look up: its first one is set in the caller's step. */
  constructor(
    storage: DurableObjectStorage,
    meter: RowMeter,
    isStored: boolean,
    settings: AlarmSettings,
  ) {
    this.#storage = storage;
    this.#meter = meter;
    this.#settings = settings;
    if (!isStored) this.#at = null;
  }

  /**
   * Adds the deadlines of a part. `derive` returns the present ones, from stored rows and from memory: a deadline has no
   * row of its own. A handler is called for a due deadline, at each alarm until `derive` no longer has it.
   */
  add<Name extends string>(
    derive: (nowMs: number) => readonly Deadline<Name>[],
    handlers: Readonly<Record<Name, () => void | Promise<void>>>,
  ): void {
    this.#parts.push((nowMs) => derive(nowMs).map((due) => ({ ...due, meet: handlers[due.name] })));
  }

  /** Looks up the alarm, so that {@link arm} then sets it in its caller's synchronous step, with the step's rows. */
  async look(): Promise<void> {
    if (this.#at !== undefined) return;
    const standing = await this.#storage.getAlarm();
    // Another caller may have set the alarm meanwhile, which is closer than the one that stood before.
    if (this.#at === undefined) this.#at = standing;
  }

  /** Sets the alarm for the next deadline. Call it when a deadline is new or has come closer. */
  async arm(): Promise<void> {
    if (this.#at === undefined) await this.look();
    const nowMs = Date.now();
    await this.#set(this.#nextMs(this.#derive(nowMs), nowMs));
  }

  /** The alarm's handler. Sets the next alarm first, so a handler that fails or dies is called again. */
  async fire(): Promise<void> {
    this.#at = null;
    const nowMs = Date.now();
    const deadlines = this.#derive(nowMs);
    await this.#set(this.#nextMs(deadlines, nowMs));
    const due = deadlines.filter(({ atMs }) => atMs <= nowMs);
    for (const { name, meet } of new Map(due.map((duty) => [duty.name, duty])).values()) {
      try {
        await meet();
      } catch (error) {
        this.#settings.onFailure(name, error); // The alarm that was set calls the handler again.
      }
    }
  }

  /** Sets no alarm from now on: the conversation is deleted, and an alarm would leave something stored. */
  stop(): void {
    this.#isStopped = true;
  }

  #derive(nowMs: number): Duty[] {
    return this.#parts.flatMap((derive) => derive(nowMs));
  }

  #nextMs(deadlines: readonly Duty[], nowMs: number): number | null {
    const { againMs } = this.#settings;
    const times = deadlines.map(({ atMs }) => (atMs > nowMs ? atMs : nowMs + againMs));
    return times.length === 0 ? null : Math.min(...times);
  }

  async #set(atMs: number | null): Promise<void> {
    if (this.#isStopped || atMs === null) return;
    if (typeof this.#at === 'number' && this.#at <= atMs) return;
    this.#at = atMs;
    this.#meter.count(1);
    await this.#storage.setAlarm(atMs);
  }
}
