/** The limits of notebooks as the model reads them. */

export const NOTEBOOK_LIMITS = {
  /** UTF-16 units of one output: the beginning of a table or of an error, which says what it is. */
  maxOutputChars: 1_000,
  /** Outputs of one cell: more are steps of one progress bar, or prints of a loop. */
  maxOutputs: 10,
  /** Hexadecimal digits of the id of a new cell, as the format advises. */
  newIdChars: 8,
} as const;
