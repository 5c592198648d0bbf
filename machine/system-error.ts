/** The error codes of the operating system. */

/** Whether a system call failed with one of these codes, such as `ENOENT`. */
export function isSystemError(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && 'code' in thrown && codes.includes(String(thrown.code));
}

/** The code of a failed system call, for a message. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
}
