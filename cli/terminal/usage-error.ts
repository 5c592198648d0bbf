/** The error for a command line that cannot be carried out. */

/** Its message is one clear sentence for the person at the terminal; the program ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
