/** The error codes of the operating system. */

/** Whether a system call failed with one of these codes, such as `ENOENT`. */
export function isSystemError(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && 'code' in thrown && codes.includes(String(thrown.code));
}
