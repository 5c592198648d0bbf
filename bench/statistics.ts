/** Statistics of many samples. */

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** The smallest sample that at least this share (0 to 1) of all samples does not exceed. @throws without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const sample = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (sample === undefined) throw new Error('There is nothing to take a percentile of.');
  return sample;
}
