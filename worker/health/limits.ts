/** The limits of logs and metrics. */

/** The limits of a line of the log. */
export const LOG_LIMITS = {
  /** Characters of one field: our longest ids have 70. With all fields a line stays below 4 KiB. */
  maxFieldChars: 200,
  /** Frames of an error's stack: enough to find the place. */
  maxFrames: 6,
} as const;

/** The limits of the metrics. */
export const METRIC_LIMITS = {
  /** Series of one metric. Names of models and tools can come from outside; further ones count as `other`. */
  maxSeries: 200,
  /** Characters of a label's value. */
  maxLabelChars: 80,
  /** Damaged objects that are counted: from the first one on a person must look. */
  maxDamaged: 1_000,
} as const;
