/** How late the event loop is, and how long sends wait for each other because of it. */

export const LOAD_LIMITS = {
  /** Sends closer together than this are merged into one frame; below what a person can see. */
  minCoalesceMs: 2,
  /** The most that text waits on a busy machine: five frames a second still read as a stream. */
  maxCoalesceMs: 200,
  /** Timers of a machine at ease are late by less than this. */
  easyMs: 3,
  /** Milliseconds that sends wait for each one that the loop is late beyond that. */
  slope: 10,
  /** Between two measurements: a twentieth of a second is sooner than any reader notices. */
  probeMs: 50,
  /** The share that a measurement has in the lateness: it is believed soon when it rises, and slowly when it falls. */
  riseShare: 1 / 2,
  fallShare: 1 / 8,
  /** The most that one measurement counts: beyond it the clock was set, or the machine slept. */
  maxSampleMs: 1_000,
} as const;

/** How long sends wait for each other when the loop is late by so much. */
export function coalesceMsAt(latenessMs: number): number {
  const { minCoalesceMs, maxCoalesceMs, easyMs, slope } = LOAD_LIMITS;
  const wantedMs = (latenessMs - easyMs) * slope;
  return Math.round(Math.min(maxCoalesceMs, Math.max(minCoalesceMs, wantedMs)));
}

/** The lateness after one more measurement. */
export function smoothed(latenessMs: number, sampleMs: number): number {
  const { riseShare, fallShare, maxSampleMs } = LOAD_LIMITS;
  const sample = Math.min(maxSampleMs, Math.max(0, sampleMs));
  return latenessMs + (sample - latenessMs) * (sample > latenessMs ? riseShare : fallShare);
}

/**
 * The lateness of the isolate's event loop. Every object and every request of the isolate shares the loop, so one
 * gauge serves them all. A timer measures: the runtime's clock stands still between two events.
 */
export class LoopGauge {
  #latenessMs = 0;
  #probedAtMs = 0;

  /** How long sends wait for each other now. */
  get coalesceMs(): number {
    return coalesceMsAt(this.#latenessMs);
  }

  /** Whether sends wait longer than on a machine at ease. */
  get isLate(): boolean {
    return this.coalesceMs > LOAD_LIMITS.minCoalesceMs;
  }

  /** Measures when the last measurement is old. Call it while something streams: an idle object needs no timer. */
  probe(): void {
    const startMs = Date.now();
    // Where the clock was set back, the last measurement lies ahead.
    if (Math.abs(startMs - this.#probedAtMs) < LOAD_LIMITS.probeMs) return;
    this.#probedAtMs = startMs;
    setTimeout(() => {
      this.#latenessMs = smoothed(this.#latenessMs, Date.now() - startMs - PROBE_MS);
    }, PROBE_MS);
  }
}

/** The shortest timer that there is. */
const PROBE_MS = 1;

export const loopGauge = new LoopGauge();
