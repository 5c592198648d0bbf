/** Measures how late the event loop is. The later it is, the longer sends are held back to be merged. */

export const LOAD_LIMITS = {
  /** Sends closer together than this are merged into one frame. A person cannot see so short a delay. */
  minCoalesceMs: 2,
  /** The longest delay on a busy machine: five frames a second still read as a stream. */
  maxCoalesceMs: 200,
  /** Timers of an idle machine are late by less than this. */
  easyMs: 3,
  /** Milliseconds of delay for each millisecond of lateness beyond `easyMs`. */
  slope: 10,
  /** Interval of measurements: shorter than any reader notices. */
  probeMs: 50,
  /** The weight of a new measurement: the lateness rises quickly and falls slowly. */
  riseShare: 1 / 2,
  fallShare: 1 / 8,
  /** A longer measurement counts as this much: the clock was set, or the machine slept. */
  maxSampleMs: 1_000,
} as const;

/** How long sends wait to be merged at this lateness. */
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

/** The lateness of the isolate's event loop. A timer measures it: the runtime's clock stands still between events. */
export class LoopGauge {
  #latenessMs = 0;
  #probedAtMs = 0;

  /** How long sends wait now to be merged. */
  get coalesceMs(): number {
    return coalesceMsAt(this.#latenessMs);
  }

  /** Whether sends wait longer than on an idle machine. */
  get isLate(): boolean {
    return this.coalesceMs > LOAD_LIMITS.minCoalesceMs;
  }

  /** Measures if the last measurement is older than `probeMs`. To be called while something streams. */
  probe(): void {
    const startMs = Date.now();
    // Math.abs: if the clock was set back, the last measurement lies in the future.
    if (Math.abs(startMs - this.#probedAtMs) < LOAD_LIMITS.probeMs) return;
    this.#probedAtMs = startMs;
    setTimeout(() => {
      this.#latenessMs = smoothed(this.#latenessMs, Date.now() - startMs - PROBE_MS);
    }, PROBE_MS);
  }
}

/** The shortest possible timer. */
const PROBE_MS = 1;

/** This isolate's, or this process's. */
export const loopGauge = new LoopGauge();
