/** What goes to the thread and comes back. Both ends are this program: nothing here is from outside. */
import { ToolFailure } from '../failure.ts';
import type { TaskName } from './tasks.ts';

export interface Question {
  readonly name: TaskName;
  readonly input: unknown;
}

export type Answer =
  | { readonly state: 'done'; readonly output: unknown }
  /** What the model is told: the task could not be done. */
  | { readonly state: 'failed'; readonly code: string; readonly message: string }
  /** Anything else that was thrown; for the log. */
  | { readonly state: 'broken'; readonly error: unknown };

/** The answer that tells of what was thrown: an error's class does not outlive the way between two threads. */
export function failureOf(thrown: unknown): Answer {
  if (!(thrown instanceof ToolFailure)) return { state: 'broken', error: thrown };
  return { state: 'failed', code: thrown.code, message: thrown.message };
}

/** The output, or what was thrown in the thread, thrown again. */
export function outputOf(answer: Answer): unknown {
  switch (answer.state) {
    case 'done':
      return answer.output;
    case 'failed':
      throw new ToolFailure(answer.code, answer.message);
    case 'broken':
      throw new Error('a computation failed', { cause: answer.error });
  }
}
