/** The failures of tasks that take more than they may. */
import { ToolFailure } from '../failure.ts';

/** The failure code of a task that needs more time or memory than it may take. */
export const TOO_COMPLEX = 'TOO_COMPLEX';

/** The failure of a task that took too much time. */
export function tooLong(maxMs: number): ToolFailure {
  return new ToolFailure(TOO_COMPLEX, `It would take longer than ${maxMs} ms. ${WHAT_TO_DO}`);
}

/** The failure of a task that took too much memory. */
export function tooLarge(cause?: unknown): ToolFailure {
  return new ToolFailure(TOO_COMPLEX, `It would take too much memory. ${WHAT_TO_DO}`, { cause });
}

const WHAT_TO_DO =
  'Nothing was changed: do it in smaller parts, on a smaller file, or with a command.';
