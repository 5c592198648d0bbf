/** Reports a level (what is the case now, and not what has happened) to another object. */

export interface LevelSource<Level extends object> {
  /** The present level, derived from rows. */
  readonly present: () => Level;
  /** Sends the level in time. Rejects where the other object may have it or not. */
  readonly send: (level: Level) => Promise<void>;
  /** The wait after the beginning of an attempt until the next one. Without it, each alarm makes one. */
  readonly againMs?: number;
}

/**
 * Reports until the other object has the present level. No row says what it has: a new instance takes what it cannot know
 * as unheard, and reports it again. So a report that arrives twice must change nothing.
 */
export class LevelReport<Level extends object> {
  readonly #source: LevelSource<Level>;
  /** What the other object has; a missing part is unknown. */
  #heard: Partial<Level>;
  #reporting: Promise<void> = Promise.resolve();
  #isReporting = false;
  #againAtMs = 0;
  #isStopped = false;
  /** How often what the other object has was forgotten, also while a report was under way. */
  #forgotten = 0;

  constructor(source: LevelSource<Level>, heard: Partial<Level>) {
    this.#source = source;
    this.#heard = heard;
  }

  get heard(): Partial<Level> {
    return this.#heard;
  }

  /** Whether the other object has the present level. */
  get isHeard(): boolean {
    return this.#isStopped || isSameLevel(this.#source.present(), this.#heard);
  }

  /** When {@link report} is due; null while the present level is heard. */
  dueMs(): number | null {
    return this.isHeard ? null : this.#againAtMs;
  }

  /** What the other object has by another message, or as it says itself. */
  learn(parts: Partial<Level>): void {
    this.#heard = { ...this.#heard, ...parts };
  }

  /** It is not known any more what the other object has. */
  forget(): void {
    this.#heard = {};
    this.#forgotten++;
  }

  /**
   * Sends the level until the present one is heard, or an attempt fails. Never rejects. `anyway`: at least once, unless a
   * report is under way. This instance can die before it sends: where no other alarm stands, the caller sets one for
   * {@link dueMs} in the step that changes the level.
   */
  report(anyway = false): Promise<void> {
    const isDue = !this.#isStopped && (anyway || !this.isHeard);
    if (isDue && !this.#isReporting) this.#reporting = this.#untilHeard();
    return this.#reporting;
  }

  /** Reports nothing from now on. */
  stop(): void {
    this.#isStopped = true;
  }

  async #untilHeard(): Promise<void> {
    const { present, send, againMs = 0 } = this.#source;
    this.#isReporting = true;
    try {
      do {
        this.#againAtMs = Date.now() + againMs;
        const level = present();
        const before = this.#forgotten;
        await send(level);
        if (this.#forgotten === before) this.#heard = level;
      } while (!this.isHeard);
    } catch {
      this.forget(); // The other object was reset, or is out of reach: the alarm reports again.
    }
    this.#isReporting = false;
  }
}

/** Whether all parts are known, and the same. */
export function isSameLevel<Level extends object>(level: Level, known: Partial<Level>): boolean {
  return (Object.keys(level) as (keyof Level)[]).every((part) => level[part] === known[part]);
}
