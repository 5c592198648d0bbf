/** How much work is done to show one thing. */

export const SHOWN_LIMITS = {
  /** Steps of the search for unchanged lines inside a hunk; 2,000 take at most some 50 ms. */
  diffSteps: 2_000,
  /** UTF-16 units of one line of output: minified files are one line of megabytes. */
  outputLineChars: 10_000,
} as const;
