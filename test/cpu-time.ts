/**
 * The milliseconds of a usual processor that a synchronous computation takes. A bound on them finds an algorithm that
 * grows too fast, and holds on a busy or slow machine too.
 */
export function cpuMsOf(compute: () => void): number {
  const taken = cpuMeter();
  compute();
  return taken();
}

/** For what awaits: its answer is what this process has taken since, whatever it did. */
export function cpuMeter(): () => number {
  const before = process.cpuUsage();
  return () => msSince(before) / slowness();
}

/** How many times as long as on a usual machine a fixed computation takes here and now; 1 at least. */
function slowness(): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let step = 0; step < YARDSTICK.steps; step++) sum = (sum * 31 + step) | 0;
  // The sum is used, so that no compiler leaves the computation out.
  return Math.max(1, msSince(before) / (YARDSTICK.usualMs + sum * 0));
}

/** Measured on a machine of 2026 with nothing beside it. */
const YARDSTICK = { steps: 4_000_000, usualMs: 22 } as const;

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
